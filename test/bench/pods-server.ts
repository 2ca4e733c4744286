/**
 * An API server in its own process that serves one large list of pods in pages, and silent watches:
 * `node test/bench/pods-server.ts COUNT`. Prints its port; ends with its stdin.
 */
import { createServer } from 'node:http';
import process from 'node:process';

const PADDING = 'x'.repeat(900);

/** About 2.4 kB, as a pod of a Deployment is. */
const podText = (nth: number): string =>
  JSON.stringify({
    metadata: {
      name: `web-5d4f8c7b9-${nth}`,
      namespace: `team-${nth % 100}`,
      uid: `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}`,
      resourceVersion: String(1000 + nth),
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { app: `web-${nth % 500}`, 'pod-template-hash': '5d4f8c7b9' },
      annotations: { 'example.com/padding': PADDING },
      managedFields: [{ manager: 'kubelet', fieldsV1: { padding: PADDING } }],
    },
    spec: {
      nodeName: `node-${nth % 1000}`,
      priority: 0,
      containers: [{
        name: 'web',
        image: 'registry.example.com/web:1.2.3',
        resources: { requests: { cpu: '250m', memory: '512Mi' } },
      }],
    },
    status: { phase: 'Running', podIP: '10.0.0.1' },
  });

const count = Number(process.argv[2] ?? 50_000);
const pods = Array.from({ length: count }, (_, nth) => podText(nth));

/** `from` on, with a token when there are more. */
const page = (from: number, limit: number): string => {
  const until = Math.min(count, from + limit);
  const more = until < count ? `,"continue":"${until}"` : '';
  const items = pods.slice(from, until).join(',');
  const metadata = `{"resourceVersion":"999999"${more}}`;
  return `{"kind":"PodList","apiVersion":"v1","metadata":${metadata},"items":[${items}]}`;
};

const server = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? '/', 'http://bench');
  response.writeHead(200, { 'content-type': 'application/json' });
  if (searchParams.get('watch') !== null) response.flushHeaders();
  else {
    const limit = Number(searchParams.get('limit') ?? count);
    response.end(page(Number(searchParams.get('continue') ?? 0), limit));
  }
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
});
process.stdin.on('end', () => process.exit(0)).resume();
