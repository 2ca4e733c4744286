/** Durations for people: in their two largest units, as kubectl prints ages. */

const UNITS = [['d', 86_400], ['h', 3600], ['m', 60], ['s', 1]] as const;

/** `3d4h`, `12m5s`, `0s`; negative durations print as `0s`. */
export const duration = (ms: number): string => {
  let seconds = Math.max(0, Math.round(ms / 1000));
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const amount = Math.floor(seconds / size);
    seconds -= amount * size;
    if (amount > 0) parts.push(`${amount}${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.length === 0 ? '0s' : parts.join('');
};
