import { playSeeds } from './seeds.ts'

playSeeds('kv', 250)
