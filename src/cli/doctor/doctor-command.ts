/** The command `tidegate doctor`. */
import { Effect } from 'effect';
import { Command, Flag } from 'effect/cli';
import { DOCTOR_OPTIONS } from '../../effects/doctor-options.ts';
import { OPERATOR_VARIABLES } from '../../effects/settings.ts';
import type { ExitCode } from '../exit-codes.ts';
import { flagsOf, givenFlags } from '../option-flags.ts';

/** The implementation. */
export interface DoctorRoles {
  readonly doctor: (flags: Readonly<Record<string, string>>) => Promise<ExitCode>;
}

const { output, ...OTHERS } = flagsOf(DOCTOR_OPTIONS, OPERATOR_VARIABLES);
const FLAGS = { ...OTHERS, ...(output && { output: output.pipe(Flag.withAlias('o')) }) };

/** The command. */
export const doctorCommand = (roles: DoctorRoles, end: (code: ExitCode) => void) =>
  Command.make(
    'doctor',
    FLAGS,
    (parsed) => Effect.promise(() => roles.doctor(givenFlags(parsed)).then(end)),
  ).pipe(
    Command.withDescription(
      'Checks what an operator needs: the API server and its clock, CRDs, admission policies, ' +
        'rights, the Lease, the certificate and the shard. Each problem has a remedy. Read-only; ' +
        'exits with 1 when a check failed. Takes the flags and variables of the operator.',
    ),
    Command.withShortDescription('Check a cluster, the rights, the certificate and the shard'),
    Command.withExamples([
      { command: 'tidegate doctor' },
      {
        command: 'tidegate doctor --cluster-id=prod-1 --shard-addr=shard.fleet:7700 ' +
          '--tls-cert=tls.crt --tls-key=tls.key --tls-ca=ca.crt',
        description: 'The session as well',
      },
      { command: 'tidegate doctor -o json', description: 'For scripts' },
    ]),
  );
