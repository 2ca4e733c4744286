/** The playground: the live page and its controls, over a sandbox inside of the browser. */
import { render } from 'preact';
import { catalogueText } from '../../src/view/catalogue.ts';
import { STATECHARTS } from './actors.ts';
import { type Choice, makeSandbox, type Sandbox } from './sandbox.ts';
import { serveInBrowser } from './in-browser-server.ts';
import { hashWithTrace, STEPS_MAX, traceIn, traceInHash, traceText } from './trace.ts';
import type { TraceStep } from './trace.ts';

const TITLE = 'Tidegate · playground';

const server = serveInBrowser({
  catalogue: { title: TITLE, machines: catalogueText(STATECHARTS) },
  charts: JSON.parse(document.querySelector('#charts')?.textContent ?? '{}'),
});

const sandboxOf = (steps: readonly TraceStep[]): Sandbox => {
  const made = makeSandbox();
  for (const step of steps) if (!made.fire(step)) break;
  return made;
};

const replaceState = history.replaceState.bind(history);
let current = sandboxOf(traceIn(traceInHash(location.hash)));

/** The page rewrites its address; what was fired stays in it. */
const keepTrace = (): void => {
  replaceState(null, '', hashWithTrace(location.hash, traceText(current.trace())));
};
history.replaceState = (data, unused, url): void => {
  replaceState(data, unused, url);
  keepTrace();
};
server.serve(current);

// The page asks the server above from its first moment.
const { Controls, turn, sandbox } = await import('./controls.tsx');
const { goLive } = await import('../../src/web/page/history.ts');
await import('../../src/web/page/main.tsx');

const show = (next: Sandbox): void => {
  current = next;
  sandbox.value = next;
  turn.value += 1;
  keepTrace();
};

const restart = (steps: readonly TraceStep[]): void => {
  goLive();
  show(sandboxOf(steps));
  server.serve(current);
};

const fire = (choice: Choice): void => {
  if (current.trace().length >= STEPS_MAX || !current.fire(choice)) return;
  show(current);
  server.announce();
  document.querySelector('.controls')?.scrollTo(0, 0);
};

/** The recording is made here, too: there is no process to ask for it. */
const download = (event: MouseEvent): void => {
  const link = event.target instanceof Element ? event.target.closest('a[download]') : null;
  if (link === null || link.getAttribute('href') !== '/recording.jsonl') return;
  event.preventDefault();
  const text = [...current.board.history.recording(TITLE)].map((line) => `${line}\n`).join('');
  const file = document.createElement('a');
  file.href = URL.createObjectURL(new Blob([text], { type: 'application/jsonl' }));
  file.download = 'tidegate-playground.jsonl';
  file.click();
  URL.revokeObjectURL(file.href);
};

addEventListener('click', download);
addEventListener('hashchange', () => {
  const wanted = traceInHash(location.hash);
  // A link of the page has none; a pasted address may have another one.
  if (wanted !== '' && wanted !== traceText(current.trace())) restart(traceIn(wanted));
  else keepTrace();
});
show(current);

const place = document.querySelector('#controls');
if (place !== null) {
  render(
    <Controls
      fire={fire}
      undo={() => restart(current.trace().slice(0, -1))}
      startOver={() => restart([])}
    />,
    place,
  );
}
