/** `npm run bench`: measures the real thing against a reference in the same run. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import {
  type Bench,
  type BenchEngine,
  BenchKit,
  type BenchReport,
  type Figure,
} from '../bench/kit.ts'
import { nearest } from '../services/kernel/nearest.ts'
import { helpRequested } from './help.ts'

const names = readdirSync('bench')
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.replace('.bench.ts', ''))

helpRequested(`Usage: npm run bench -- NAME [--engine=embedded|cluster] [--json FILE] [--rounds N]

Benches: ${names.join(', ')}, or all

Each figure is a ratio to a reference measured in the same run, in turns. Without --engine a bench
runs on every engine it has; cluster needs \`npm run stack -- up\`.

Examples:
  npm run bench -- tables --engine=embedded
  npm run bench -- all --json bench.json`)

const fail = (message: string): never => {
  console.error(message)
  process.exit(2)
}

const parse = () => {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        engine: { type: 'string' },
        json: { type: 'string' },
        rounds: { type: 'string', default: '5' },
        'round-ms': { type: 'string', default: '1000' },
      },
    })
  } catch (error) {
    return fail(`${(error as Error).message}\nSee npm run bench -- --help`)
  }
}

const { values, positionals } = parse()
const wanted = positionals[0] ?? fail(`Which bench? One of ${names.join(', ')}, or all`)
if (wanted !== 'all' && !names.includes(wanted)) {
  const close = nearest(wanted, names)
  fail(`There is no bench ${wanted}${close ? `, did you mean ${close}?` : `: ${names.join(', ')}`}`)
}
const engine = values.engine as BenchEngine | undefined
if (engine !== undefined && engine !== 'embedded' && engine !== 'cluster') {
  fail(`--engine is embedded or cluster, not ${values.engine}`)
}
if (
  engine === 'cluster' &&
  !existsSync('.stack/stack.json') &&
  !process.env['TRIBUTARY_STACK_DIR']
) {
  fail('The cluster engine needs its servers: npm run stack -- up')
}

const progress = (text: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
  else process.stderr.write(`${text}\n`)
}

const number = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)

const goalOf = ({ goal, unit }: Figure): string =>
  goal === null ? '' : `${unit === '/s' ? '≥' : '≤'} ${goal}`

const print = (report: BenchReport): void => {
  console.log(`\n${report.bench} on ${report.engine}`)
  console.table(
    report.figures.map((figure: Figure) => ({
      figure: figure.name,
      ours: `${number(figure.ours)} ${figure.unit}`,
      reference: `${number(figure.reference)} ${figure.unit}`,
      against: figure.referenceName,
      ratio: `${figure.ratio.toFixed(2)} ± ${figure.spread.toFixed(2)}`,
      goal: goalOf(figure),
      met: figure.goal === null ? '' : figure.met ? 'yes' : 'NO',
    })),
  )
}

const reports: BenchReport[] = []
for (const name of wanted === 'all' ? names : [wanted]) {
  const { bench } = (await import(`../bench/${name}.bench.ts`)) as { bench: Bench }
  const kit = new BenchKit({
    rounds: Number(values.rounds),
    roundMs: Number(values['round-ms']),
    progress,
  })
  for (const each of bench.engines) {
    if (engine !== undefined && each !== engine) continue
    progress(`${name} on ${each}: preparing`)
    const report = { bench: name, engine: each, figures: await bench.run(each, kit) }
    reports.push(report)
    print(report)
  }
}
if (values.json)
  writeFileSync(
    values.json,
    `${JSON.stringify(reports.length === 1 ? reports[0] : reports, null, 2)}\n`,
  )
process.exitCode = reports.every(({ figures }) => figures.every(({ met }) => met)) ? 0 : 1
