/** The commands `tidegate evict` and `tidegate evictions`. */
import { Effect } from 'effect';
import { Argument, Command } from 'effect/cli';
import {
  EVICT_FLAGS,
  EVICTIONS_FLAGS,
  type EvictionsRequest,
  evictionsRequest,
  type EvictRequest,
  evictRequest,
} from './evictions-request.ts';
import type { ExitCode } from '../exit-codes.ts';

/** The implementations. */
export interface EvictionRoles {
  readonly evict: (request: EvictRequest) => Promise<ExitCode>;
  readonly evictions: (request: EvictionsRequest) => Promise<ExitCode>;
}

type Ending = (code: ExitCode) => void;

/** `tidegate evict`. */
export const evictCommand = (roles: EvictionRoles, end: Ending) =>
  Command.make(
    'evict',
    {
      pod: Argument.String('pod').pipe(
        Argument.withDescription('NAMESPACE/NAME of the pod that is to leave'),
      ),
      ...EVICT_FLAGS,
    },
    (parsed) => {
      const request = evictRequest(parsed);
      return Effect.promise(() => roles.evict(request).then(end));
    },
  ).pipe(
    Command.withDescription(
      'Requests that a pod leaves: creates its EvictionRequest or joins the open one. The ' +
        'interceptors of the pod are asked in turn before Tidegate evicts it within its budgets. ' +
        'Several requesters may ask; the request ends when the last one withdraws.',
    ),
    Command.withShortDescription('Request that a pod leaves, or withdraw'),
    Command.withExamples([
      { command: 'tidegate evict team-a/web-7 --requester=upgrade.nodes.example.com' },
      {
        command: 'tidegate evict team-a/web-7 --requester=upgrade.nodes.example.com --wait ' +
          '--timeout=30m',
        description: 'With its progress; exits with 0 when the pod has left',
      },
      {
        command: 'tidegate evict team-a/web-7 --requester=upgrade.nodes.example.com --cancel',
      },
    ]),
  );

/** `tidegate evictions`. */
export const evictionsCommand = (roles: EvictionRoles, end: Ending) =>
  Command.make(
    'evictions',
    EVICTIONS_FLAGS,
    (parsed) => {
      const request = evictionsRequest(parsed);
      return Effect.promise(() => roles.evictions(request).then(end));
    },
  ).pipe(
    Command.withDescription(
      'Shows EvictionRequests: who asks that a pod leaves, which interceptor is asked since ' +
        'when, and its last heartbeat. Read-only.',
    ),
    Command.withShortDescription('Show requested evictions'),
    Command.withExamples([
      { command: 'tidegate evictions -A' },
      { command: 'tidegate evictions -n team-a -l app=web -o wide' },
      { command: 'tidegate evictions -A --watch' },
    ]),
  );
