/** The dead letters of a running program, by command. */
import { expect, test } from 'vitest'
import type { LetterPage } from '../../gateway/control/commands.ts'
import { topics } from '../../services/kernel/events.ts'
import { engines } from '../kit/engines.ts'
import { eventually } from '../kit/eventually.ts'
import { Program, runProgram } from '../kit/program.ts'
import { World } from '../kit/world.ts'

const PATIENT = { withinMs: 100_000 }

test.each(engines)(
  'dead letters of a running program on %s are listed, shown, replayed and dropped by command',
  async (engine) => {
    await using world = await World.open({ engine, startMs: Date.now() })
    const poison = { key: 'telemetry.level', value: 'no event', headers: {} }
    await world.platform.log.append(topics.operations, [poison])
    await world.stop()
    await using program = await Program.serve(world.place)
    const letters = async () => {
      const { out } = await runProgram(world.place, 'dead-letters', 'list', '--json')
      return (JSON.parse(out) as LetterPage).items
    }
    const [letter] = await eventually(async () => {
      const found = await letters()
      return found.length === 1 ? found : undefined
    }, PATIENT)
    const id = letter?.id ?? ''
    const shown = await runProgram(world.place, 'dead-letters', 'show', id)
    expect(shown.out).toContain('no event')
    const replayed = await runProgram(world.place, 'dead-letters', 'replay', id)
    expect(replayed).toMatchObject({ code: 0, out: `${id} handed to audit again` })
    // It cannot be read now either: it dies again, as a letter of its own.
    const [again] = await eventually(async () => {
      const found = await letters()
      return found.length === 1 && found[0]?.id !== id ? found : undefined
    }, PATIENT)
    expect(again?.reason).toContain('not JSON')
    const dropped = await runProgram(world.place, 'dead-letters', 'drop', again?.id ?? '')
    expect(dropped.code).toBe(0)
    expect(await letters()).toEqual([])
    await program.kill('SIGTERM')
  },
  // On a busy cluster each command opens its engines for seconds.
  300_000,
)
