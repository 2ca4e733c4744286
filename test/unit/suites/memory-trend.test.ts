/** The trend of a process's memory: growth is told from noise. */
import { describe, expect, test } from 'vitest';
import {
  isGrowing,
  type MemorySample,
  memoryTrend,
  sampleIn,
} from '../../soak/memory/memory-samples.ts';
import { drawsFrom } from '../../support/draws.ts';

const MIB = 1024 * 1024;
const SAMPLE_MS = 30_000;
const HOUR_MS = 3_600_000;

/** Two hours of samples that grow by so much an hour, with noise of so much. */
const samples = (growth: number, noise: number): readonly MemorySample[] => {
  const draw = drawsFrom(7);
  return Array.from({ length: 240 }, (_, index) => {
    const atMs = index * SAMPLE_MS;
    const liveBytes = (90 + growth * (atMs / HOUR_MS) + noise * (draw() - 0.5)) * MIB;
    return { atMs, liveBytes, codeBytes: 0, rssBytes: 0, files: 0, timers: 0 };
  });
};

const growing = (growth: number, noise: number): boolean => {
  const trend = memoryTrend(samples(growth, noise));
  return trend !== undefined && isGrowing(trend);
};

describe('the trend of memory', () => {
  test('is the slope of a straight line, in bytes an hour', () => {
    const trend = memoryTrend(samples(3, 0));
    expect((trend?.bytesPerHour ?? 0) / MIB).toBeCloseTo(3, 6);
    expect((trend?.errorPerHour ?? 1) / MIB).toBeCloseTo(0, 6);
  });

  test('shows growth of half a mebibyte an hour through noise of a mebibyte', () => {
    expect(growing(0.5, 1)).toBe(true);
    expect(growing(0, 1)).toBe(false);
  });

  test('is no growth below the negligible bound, however certain', () => {
    expect(growing(0.15, 0)).toBe(false);
    expect(growing(0.25, 0)).toBe(true);
  });

  test('has a wider error when samples resemble their predecessors', () => {
    const independent = samples(0, 1);
    const resembling = independent.map((sample, index) => ({
      ...sample,
      liveBytes: independent[index - (index % 8)]?.liveBytes ?? 0,
    }));
    expect(memoryTrend(resembling)?.errorPerHour ?? 0)
      .toBeGreaterThan(2 * (memoryTrend(independent)?.errorPerHour ?? 0));
  });

  test('needs three samples', () => {
    expect(memoryTrend(samples(1, 1).slice(0, 2))).toBeUndefined();
  });
});

describe('a line of figures', () => {
  test('is a sample of live bytes without code, of descriptors and timers', () => {
    const memory = {
      heapUsed: 100,
      codeUsed: 10,
      external: 20,
      rss: 300,
      files: 30,
      resources: { Timeout: 4 },
    };
    expect(sampleIn({ memory }, 5)).toEqual({
      atMs: 5,
      liveBytes: 110,
      codeBytes: 10,
      rssBytes: 300,
      files: 30,
      timers: 4,
    });
  });

  test('is told from a line of the log', () => {
    expect(sampleIn({ msg: 'Operator started', level: 'info' }, 5)).toBeUndefined();
  });
});
