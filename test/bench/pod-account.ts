/**
 * Loaded with `--import` before an operator: the account of its pod is in the folder that
 * `BENCH_ACCOUNT` names, as no bench may write where Kubernetes puts it.
 */
import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import process from 'node:process';

const MOUNTED = '/var/run/secrets/kubernetes.io/serviceaccount';
const FOLDER = process.env['BENCH_ACCOUNT'] ?? '';

const here = (path: unknown): unknown =>
  typeof path === 'string' && path.startsWith(MOUNTED) ? FOLDER + path.slice(MOUNTED.length) : path;

const redirect = (from: object, name: string): void => {
  const original: unknown = Reflect.get(from, name);
  if (typeof original !== 'function') throw new Error(`There is no ${name} to redirect`);
  Reflect.set(
    from,
    name,
    (path: unknown, ...rest: readonly unknown[]) =>
      Reflect.apply(original, from, [here(path), ...rest]),
  );
};

redirect(fs, 'existsSync');
redirect(fs, 'readFileSync');
redirect(promises, 'readFile');
syncBuiltinESMExports();
