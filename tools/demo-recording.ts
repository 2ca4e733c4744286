/**
 * Records `npm run demo` as an animated SVG: docs/pictures/demo.svg.
 *
 * `node tools/demo-recording.ts [SCENARIO]` runs the scenario once and writes its output, each line
 * at its time. The picture contains no script, so that it plays wherever pictures are shown.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { realTime } from '../src/effects/real-time.ts';

const TARGET = 'docs/pictures/demo.svg';
const LINE_PX = 19;
const ROWS = 26;
const COLUMNS = 108;
const COLUMN_PX = 8.43;
const PADDING_PX = 18;
const LINGER_SECONDS = 6;
/** Begins what a reader may try next. */
const ADVICE = 'Try next:';

interface Line {
  readonly atSeconds: number;
  readonly text: string;
}

const wrapped = (text: string): readonly string[] => {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > COLUMNS) {
    const space = rest.lastIndexOf(' ', COLUMNS);
    const at = space > 0 ? space : COLUMNS;
    lines.push(rest.slice(0, at));
    rest = `  ${rest.slice(at).trimStart()}`;
  }
  return [...lines, rest];
};

const record = async (scenario: string): Promise<readonly Line[]> => {
  const startedMs = realTime.monotonic();
  const child = spawn(process.execPath, ['src/main.ts', 'demo', `--scenario=${scenario}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: Line[] = [{ atSeconds: 0, text: '$ npm run demo' }];
  let hasEnded = false;
  createInterface({ input: child.stdout }).on('line', (text) => {
    const atSeconds = (realTime.monotonic() - startedMs) / 1000;
    // The picture ends on the result of the scenario.
    hasEnded ||= text === ADVICE;
    if (hasEnded) return;
    for (const part of wrapped(text)) lines.push({ atSeconds, text: part });
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`The demo ended with ${code}`);
  return lines;
};

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The whole page scrolls up by a line for each line that finds no room. */
const scrolling = (lines: readonly Line[], seconds: number): string => {
  const steps = lines.flatMap(({ atSeconds }, at) =>
    at < ROWS ? [] : [
      `${(atSeconds / seconds * 100).toFixed(2)}%{transform:translateY(${
        (ROWS - 1 - at) * LINE_PX
      }px)}`,
    ]
  );
  return `@keyframes scroll{0%{transform:translateY(0)}${steps.join('')}}`;
};

const svgOf = (lines: readonly Line[]): string => {
  const seconds = (lines.at(-1)?.atSeconds ?? 0) + LINGER_SECONDS;
  const width = Math.ceil(COLUMNS * COLUMN_PX + 2 * PADDING_PX);
  const height = ROWS * LINE_PX + 2 * PADDING_PX;
  const texts = lines.map(({ atSeconds, text }, at) =>
    `<text y="${(at + 1) * LINE_PX}" style="animation-delay:${atSeconds.toFixed(2)}s"` +
    `${/^\s+[\d.]+ s {2}(?:you|fleet|demo)/.test(text) ? ' class="action"' : ''}>${
      escaped(text)
    }</text>`
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" ` +
    `height="${height}" role="img" aria-label="A recording of the demo">`,
    `<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;`,
    `fill:#d7e0e3;white-space:pre;animation:appear .01s linear backwards}`,
    `.action{fill:#6fd0dd}@keyframes appear{from,to{opacity:0}}`,
    scrolling(lines, seconds),
    `.page{animation:scroll ${seconds.toFixed(2)}s step-end forwards}</style>`,
    `<rect width="${width}" height="${height}" rx="10" fill="#12181b"/>`,
    `<svg x="${PADDING_PX}" y="${PADDING_PX - 5}" width="${width - 2 * PADDING_PX}" ` +
    `height="${height - 2 * PADDING_PX + 8}"><g class="page">`,
    ...texts,
    '</g></svg></svg>',
    '',
  ].join('\n');
};

const lines = await record(process.argv[2] ?? 'tight-budget');
writeFileSync(TARGET, svgOf(lines));
process.stdout.write(`wrote ${TARGET}: ${lines.length} lines\n`);
