/**
 * Makes the playground, `docs/playground.html`: the live page with the statecharts themselves, in
 * one file that works without a network.
 *
 * `node tools/playground.ts` writes; with `--check` it compares, and fails when it is not current.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { placedChart } from '../src/view/chart/chart-layout.ts';
import { CHART_STYLE, chartSvg } from '../src/view/chart/chart-svg.ts';
import { chartOf } from '../src/view/chart/chart.ts';
import { bundled } from './page-bundle.ts';
import { PAGE_STYLES } from './page-styles.ts';
import { STATECHARTS } from './playground/actors.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FILE = 'docs/playground.html';
/** It is kept in git, so it stays as small as a picture. */
const BYTES_MAX = 700_000;

const text = (path: string): string => readFileSync(ROOT + path, 'utf8');

const charts = async (): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(STATECHARTS).map(async ([name, machine]) => [
        name,
        chartSvg(await placedChart(chartOf(machine)), { isStyled: false }),
      ]),
    ),
  );

/** Nothing in a script or a style may end its element. */
const embeddable = (script: string): string => script.replaceAll('</', '<\\/');

const page = async (): Promise<string> => {
  const style = CHART_STYLE + PAGE_STYLES.map((name) => text(`src/web/page/${name}`)).join('') +
    text('tools/playground/playground.css');
  const script = await bundled(`${ROOT}tools/playground/main.tsx`);
  const drawings = JSON.stringify(await charts()).replaceAll('<', '\\u003c');
  return text('tools/playground/index.html')
    .replace('<!-- STYLE -->', () => `<style>${style}</style>`)
    .replace(
      '<!-- CHARTS -->',
      () => `<script type="application/json" id="charts">${drawings}</script>`,
    )
    .replace('<!-- SCRIPT -->', () => `<script type="module">${embeddable(script)}</script>`);
};

const made = await page();
if (made.length > BYTES_MAX) throw new Error(`${FILE} has ${made.length} bytes: too many for git`);
if (!process.argv.includes('--check')) writeFileSync(ROOT + FILE, made);
else if (!existsSync(ROOT + FILE) || text(FILE) !== made) {
  process.stderr.write(`${FILE} is not current: run "node tools/playground.ts"\n`);
  process.exitCode = 1;
}
