/**
 * `tidegate fleet`: runs a stand-in fleet until a signal ends it.
 *
 * Promises: prints its addresses on stderr, so that scripts can wait for it.
 */
import { type FleetSettings, fleetSettings, type ProcessEnvironment } from '../effects/settings.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import type { GivenFlags } from './program.ts';
import { endingSignal } from './signals.ts';
import type { Terminal } from './terminal/terminal.ts';

/** The address of a server. */
interface BoundAddress {
  readonly host: string;
  readonly port: number;
}

/** A running fleet. */
export interface RunningFleet {
  /** The address for operators. */
  readonly address: BoundAddress;
  readonly scriptAddress: BoundAddress | undefined;
  readonly stop: () => Promise<void>;
}

/** Starts a fleet. */
export type StartFleet = (settings: FleetSettings) => Promise<RunningFleet>;

const addressText = ({ host, port }: BoundAddress): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Runs the fleet until a signal ends it. */
export const runFleetCommand = async (
  flags: GivenFlags,
  processEnvironment: Pick<ProcessEnvironment, 'environment'>,
  { terminal, start }: { readonly terminal: Terminal; readonly start: StartFleet },
): Promise<ExitCode> => {
  const settled = fleetSettings(flags, processEnvironment);
  if (settled._tag === 'SettingsProblem') {
    terminal.report(settled.message);
    return EXIT.usage;
  }
  const signal = endingSignal();
  const { address, scriptAddress, stop } = await start(settled.settings);
  const scripted = scriptAddress && `, scripted on http://${addressText(scriptAddress)}`;
  terminal.report(`Fleet listens on ${addressText(address)}${scripted ?? ''}`);
  await signal;
  await stop();
  return EXIT.ok;
};
