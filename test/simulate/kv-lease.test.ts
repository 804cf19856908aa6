import { playSeeds } from './seeds.ts'

playSeeds('kv-lease', 500)
