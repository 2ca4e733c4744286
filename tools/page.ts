/**
 * Bundles the live page into `src/gen/page.ts` and draws its charts into `src/gen/charts.ts`, so
 * that a process serves them without a build step and without a layout engine.
 *
 * `node tools/page.ts` writes; with `--check` it compares, and fails when a file is not current.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { MACHINES } from '../src/machines/index.ts';
import { placedChart } from '../src/view/chart/chart-layout.ts';
import { CHART_STYLE, chartSvg } from '../src/view/chart/chart-svg.ts';
import { chartOf } from '../src/view/chart/chart.ts';
import { bundled } from './page-bundle.ts';
import { PAGE_STYLES } from './page-styles.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGE = `${ROOT}src/web/page/`;

const text = (name: string): string => readFileSync(PAGE + name, 'utf8');

const constant = (name: string, words: string, value: string): string =>
  `/** ${words}. */\nexport const ${name} = ${JSON.stringify(value)};\n`;

const page = async (): Promise<string> =>
  [
    '/** The live page, bundled by `tools/page.ts` from `src/web/page`. Do not edit. */\n',
    constant('PAGE_HTML', 'What is served at `/`', text('index.html')),
    constant('PAGE_SCRIPT', 'What is served at `/page.js`', await bundled(`${PAGE}main.tsx`)),
    constant(
      'PAGE_STYLE',
      'What is served at `/page.css`',
      CHART_STYLE + PAGE_STYLES.map(text).join(''),
    ),
  ].join('\n');

const charts = async (): Promise<string> => {
  const drawn = await Promise.all(
    Object.entries(MACHINES).map(async ([name, machine]) => {
      const svg = chartSvg(await placedChart(chartOf(machine)), { isStyled: false });
      return `  ${name}: ${JSON.stringify(svg)},\n`;
    }),
  );
  return '/** Every machine, drawn by `tools/page.ts` without a style sheet. Do not edit. */\n' +
    `export const CHARTS = {\n${drawn.join('')}} as const;\n`;
};

const isCurrent = (path: string, wanted: string): boolean =>
  existsSync(path) && readFileSync(path, 'utf8') === wanted;

for (const [name, generated] of [['page', await page()], ['charts', await charts()]] as const) {
  const path = `${ROOT}src/gen/${name}.ts`;
  if (!process.argv.includes('--check')) writeFileSync(path, generated);
  else if (!isCurrent(path, generated)) {
    process.stderr.write(`src/gen/${name}.ts is not current: run "node tools/page.ts"\n`);
    process.exitCode = 1;
  }
}
