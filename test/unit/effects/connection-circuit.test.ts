/** ConnectionCircuit: closed, open and half-open, as writes of all classes meet it. */
import { expect, test } from 'vitest';
import { ConnectionCircuit } from '../../../src/effects/connection-circuit.ts';

/** Opened at 0 ms: its first probe may leave at 500 ms. */
const opened = (): ConnectionCircuit => {
  const circuit = new ConnectionCircuit();
  circuit.admit(0)('Unconnected', 0);
  return circuit;
};

test('DR-37: ConnectionCircuit admits all writes while closed', () => {
  const circuit = new ConnectionCircuit();
  const end = circuit.admit(0);
  circuit.admit(0);
  expect(circuit.waitMs(0)).toBe(0);
  end('HeldBack', 1);
  expect(circuit.waitMs(1)).toBe(0);
});

test('DR-37: ConnectionCircuit admits no write for 500 ms after a failed connection', () => {
  const circuit = opened();
  expect(circuit.waitMs(0)).toBe(500);
  expect(circuit.waitMs(400)).toBe(100);
  expect(circuit.waitMs(500)).toBe(0);
});

test('DR-37: ConnectionCircuit admits one probe while half-open, for 20 s at most', () => {
  const circuit = opened();
  circuit.admit(500);
  expect(circuit.waitMs(500)).toBeGreaterThan(0);
  expect(circuit.waitMs(20_499)).toBeGreaterThan(0);
  expect(circuit.waitMs(20_500)).toBe(0);
});

test('DR-37: ConnectionCircuit closes when any write left, and opens when the probe failed', () => {
  const circuit = new ConnectionCircuit();
  const early = circuit.admit(0);
  circuit.admit(0)('Unconnected', 0);
  const probe = circuit.admit(500);
  probe('Unconnected', 600);
  expect(circuit.waitMs(600)).toBe(500);
  circuit.admit(1100);
  early('Left', 1200);
  expect(circuit.waitMs(1200)).toBe(0);
});

test('DR-37: ConnectionCircuit admits another probe when one was held back', () => {
  const circuit = opened();
  circuit.admit(500)('HeldBack', 510);
  expect(circuit.waitMs(510)).toBe(0);
});

test('DR-37: ConnectionCircuit waits for its probe when an earlier write fails', () => {
  const circuit = new ConnectionCircuit();
  const early = circuit.admit(0);
  circuit.admit(0)('Unconnected', 0);
  const probe = circuit.admit(500);
  early('Unconnected', 600);
  expect(circuit.waitMs(600)).toBe(50);
  probe('HeldBack', 700);
  expect(circuit.waitMs(700)).toBe(400);
});
