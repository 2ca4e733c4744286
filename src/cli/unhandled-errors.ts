/**
 * Errors that nothing handles: they end the process, because its state is unknown, with one JSON
 * line instead of the runtime's multi-line text.
 */
import { defectText, type Telemetry } from '../api/telemetry.ts';
import { EXIT } from './exit-codes.ts';

const UNHANDLED = ['uncaughtException', 'unhandledRejection'] as const;

/** Logs the first unhandled error and exits with 1; returns a function that ends it. */
export const exitOnUnhandledErrors = ({ log }: Pick<Telemetry, 'log'>): () => void => {
  const end = (cause: unknown): void => {
    log('error', 'Unhandled error ends the process', { problem: defectText(cause) });
    process.exit(EXIT.failure);
  };
  for (const name of UNHANDLED) process.on(name, end);
  return () => {
    for (const name of UNHANDLED) process.off(name, end);
  };
};
