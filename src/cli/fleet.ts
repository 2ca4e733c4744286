/**
 * `tidegate fleet`: from flags to a running stand-in fleet, until a signal ends it.
 *
 * Promises: says on stderr where it listens, so that scripts can wait for it and people can dial.
 */
import { type FleetSettings, fleetSettings, type Surroundings } from '../effects/settings.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import type { GivenFlags } from './program.ts';
import { stopOnSignal } from './signals.ts';
import type { Terminal } from './terminal.ts';

/** A fleet that runs. */
export interface RunningFleet {
  /** Where operators dial, as `host:port`. */
  readonly address: string;
  readonly scriptAddress: string | undefined;
  readonly stop: () => Promise<void>;
}

/** What starts one. */
export type StartFleet = (settings: FleetSettings) => Promise<RunningFleet>;

/** Runs the fleet until a signal ends it. */
export const runFleetCommand = async (
  flags: GivenFlags,
  surroundings: Pick<Surroundings, 'environment'>,
  { terminal, start }: { readonly terminal: Terminal; readonly start: StartFleet },
): Promise<ExitCode> => {
  const settled = fleetSettings(flags, surroundings);
  if (settled._tag === 'SettingsProblem') {
    terminal.say(settled.message);
    return EXIT.usage;
  }
  const fleet = await start(settled.settings);
  const scripted = fleet.scriptAddress === undefined
    ? ''
    : `, scripted on http://${fleet.scriptAddress}`;
  terminal.say(`Fleet listens on ${fleet.address}${scripted}`);
  return await new Promise((resolve) => {
    stopOnSignal(terminal, async () => {
      await fleet.stop();
      resolve(EXIT.ok);
    });
  });
};
