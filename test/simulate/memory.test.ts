import { playSeeds } from './seeds.ts'

playSeeds('memory', 1250)
