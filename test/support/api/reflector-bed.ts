/** A cache over an API server in memory, on simulated time, for one test. */
import { Layer, ManagedRuntime } from 'effect';
import { onTestFinished } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { type InformerOptions, startInformer } from '../../../src/actors/informers/informer.ts';
import { silentTelemetry, type Telemetry } from '../../../src/api/telemetry.ts';
import type { Fact, Identity } from '../../../src/domain/facts.ts';
import { textAt } from '../../../src/domain/json.ts';
import { identityOf } from '../../../src/domain/object-meta.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { KubeApi } from '../../../src/effects/kube-api.ts';
import { simulatedTime } from '../time/simulated-time.ts';
import { type ScriptedApi, scriptedApi } from './scripted-api.ts';

/** An object with a color, which decides how it is read. */
export interface Thing extends Identity {
  readonly color: string;
}

/** Hidden things are none of the cache's; a poisoned one is a defect. */
export const projectThing = (raw: unknown): Thing | undefined => {
  const identity = identityOf(raw);
  const color = textAt(raw, 'spec', 'color') ?? 'none';
  if (color === 'poison') throw new Error('poisoned');
  return identity === undefined || color === 'hidden' ? undefined : { ...identity, color };
};

/** A fact in a few words. */
export const factText = (fact: Fact<Thing>): string => {
  switch (fact._tag) {
    case 'Listed':
      return `listed ${fact.objects.map(({ key }) => key).sort().join(',')}`;
    case 'Present':
      return `present ${fact.object.key} ${fact.object.color}`;
    case 'Absent':
      return `absent ${fact.key} ${fact.last.color}`;
  }
};

/** The server, its clock, and caches of it. */
export const reflectorBed = (telemetry: Telemetry = silentTelemetry) => {
  const time = simulatedTime();
  const api = scriptedApi();
  const runtime = ManagedRuntime.make(
    Layer.merge(Layer.succeed(KubeApi, api.service), clockLayer(time)),
  );
  onTestFinished(() => runtime.dispose());
  const environment = makeActorEnvironment({ time, runtime, telemetry, firstSeed: 7 });
  const start = (
    projection: typeof projectThing = projectThing,
    listed: InformerOptions<Thing>['listed'] = undefined,
  ) => {
    const reflector = startInformer(environment, {
      id: 'things',
      path: '/things',
      project: projection,
      ...(listed === undefined ? {} : { listed }),
    });
    onTestFinished(reflector.stop);
    const facts: string[] = [];
    reflector.facts.subscribe((fact) => facts.push(factText(fact)));
    return { reflector, facts };
  };
  return { time, api, start };
};

/** How many lists were asked for, pages aside. */
export const listsOf = (api: ScriptedApi): number =>
  api.calls.filter(({ query }) => query?.['continue'] === undefined).length;
