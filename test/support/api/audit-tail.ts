/** Follows the audit log: each request is returned once. */
import { open } from 'node:fs/promises';
import { auditEntries, type AuditEntry } from '../../../tools/testbed/audit.ts';
import type { Testbed } from '../../../tools/testbed/testbed.ts';

/** The requests since the last read. */
export type AuditTail = () => Promise<readonly AuditEntry[]>;

/** Reads from the last position, initially the start. */
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
