/** The audit log as it grows: each request is given once. */
import { open } from 'node:fs/promises';
import { auditEntries, type AuditEntry } from '../../../tools/testbed/audit.ts';
import type { Testbed } from '../../../tools/testbed/testbed.ts';

/** What was answered since the last time that it was asked. */
export type AuditTail = () => Promise<readonly AuditEntry[]>;

/** Reads on from wherever it came to, which is the beginning at first. */
export const auditTail = ({ auditLog }: Testbed): AuditTail => {
  let offset = 0;
  return async () => {
    const file = await open(auditLog);
    try {
      const { size } = await file.stat();
      const bytes = Buffer.alloc(size - offset);
      await file.read(bytes, 0, bytes.length, offset);
      // The last line may be half-written: it is left for the next time.
      const whole = bytes.lastIndexOf('\n') + 1;
      offset += whole;
      return auditEntries(bytes.subarray(0, whole).toString('utf8'));
    } finally {
      await file.close();
    }
  };
};
