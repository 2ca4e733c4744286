/**
 * An operator and a fleet with mutual TLS between their processes, and what the operator logs of
 * its sessions.
 *
 * Promises: a wait that fails prints the operator's entries about its sessions.
 */
import { eventually } from '../eventually.ts';
import type { Testbed } from '../api/testbed.ts';
import { type Authority, newAuthority } from '../processes/certificates.ts';
import { type FleetOptions, type FleetProcess, startFleet } from '../processes/fleet-process.ts';
import { fleetPair, type KeyFiles, writeKeyFiles } from '../processes/key-files.ts';
import { LASTING_LEASE } from '../processes/lasting-lease.ts';
import { type OperatorProcess, startOperator } from '../processes/operator-process.ts';
import type { LogLine } from '../processes/tidegate-process.ts';

export const hasMessage = (message: string) => (line: LogLine): boolean => line.message === message;

/** The operator's entries with that message. */
export const entries = (operator: OperatorProcess, message: string): readonly LogLine[] =>
  operator.logs().filter(hasMessage(message));

/** One authority signs fleets, another one signs operators. */
export const authorities = () => ({
  fleets: newAuthority('fleets'),
  operators: newAuthority('operators'),
});

/** A fleet whose certificate `fleets` signed, for operators that `operators` signed. */
export const securedFleet = async (
  fleets: Authority,
  operators: Authority | readonly Authority[],
  options: FleetOptions = {},
): Promise<FleetProcess> => {
  const { flags } = await writeKeyFiles(fleetPair(fleets), [operators].flat());
  return await startFleet({ seedMachines: 0, ...options, flags: { ...options.flags, ...flags } });
};

/** What an operator with key files is started with. */
export interface Secured {
  readonly bed: Testbed;
  readonly address: string;
  readonly keys: KeyFiles;
  /** Its lease has the same name. */
  readonly clusterId?: string;
  /** `--tls-renewal-delay`; the key files are read as often. */
  readonly renewalDelay?: string;
}

/**
 * An operator with those key files. Its roll-ups have 15 s until an ack is overdue, so that a busy
 * machine ends no session.
 */
export const securedOperator = async (
  { bed, address, keys, clusterId = 'test', renewalDelay = '1s' }: Secured,
): Promise<OperatorProcess> =>
  await startOperator({
    bed,
    clusterId,
    shardAddress: address,
    flags: {
      ...keys.flags,
      'tls-renewal-delay': renewalDelay,
      'rollup-interval': '5s',
      ...LASTING_LEASE,
      'lease-name': clusterId,
      'log-level': 'info',
    },
  });

const sessionEntries = (operator: OperatorProcess): string =>
  operator.logs()
    .filter(({ message }) => /[Ss]ession|[Kk]ey/.test(String(message)))
    .map((line) => JSON.stringify(line))
    .join('\n');

/** Waits until the operator has logged that message so many times, or more often. */
export const untilEntries = (
  operator: OperatorProcess,
  message: string,
  times: number,
): Promise<unknown> =>
  eventually(
    () => {
      if (entries(operator, message).length >= times) return true;
      throw new Error(`the entries about sessions are\n${sessionEntries(operator)}`);
    },
    { what: `${times} entries "${message}"` },
  );
