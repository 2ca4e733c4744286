/** The details of one actor: why it waits, its links, path, log and data. */
import { Fragment } from 'preact';
import type { ActorLink } from '../../view/actor-links.ts';
import { duration } from '../../view/duration.ts';
import type { SentActor } from '../live-feed.ts';
import { catalogue, focused, nowMs, reasonOf, rows } from './feed.ts';
import { addressWith, route } from './route.ts';
import { WhyLines } from './verdict-lines.tsx';
import { possibleMoves } from './moves.ts';
import { shortState, span, spoken, statesText, timeOfDay, whyOf } from './words.ts';

const WhyItWaits = ({ reason, verdict }: {
  readonly reason: string;
  readonly verdict: SentActor['verdict'];
}) => {
  const why = whyOf(reason, verdict);
  if (why === undefined) return null;
  return (
    <div class='why'>
      <WhyLines why={why} />
    </div>
  );
};

const StateText = ({ kind, state }: { readonly kind: string; readonly state: string }) => (
  <ul class='now'>
    {state.split(' ').map((path) => (
      <li key={path}>
        <b>{spoken(shortState(path))}</b>{' '}
        <span>{catalogue.value.machines[kind]?.states[path] ?? ''}</span>
      </li>
    ))}
  </ul>
);

const Links = ({ links, actor }: {
  readonly links: readonly ActorLink[];
  readonly actor: SentActor;
}) => {
  if (links.length === 0) return null;
  const known = new Map(rows.value.map((row) => [row.id, row]));
  return (
    <section aria-label='Related actors'>
      <h3>Related actors</h3>
      <ul class='links'>
        {links.map(({ id, relation }) => {
          const row = known.get(id);
          return (
            <li key={id}>
              <span class='of'>{relation}</span>{' '}
              <a href={addressWith({ actor: id, kind: row?.kind ?? '' })}>
                {row?.name ?? id}
              </a>{' '}
              <span class='states'>{statesText(row?.states ?? [])}</span>
              {row !== undefined && reasonOf(row) !== '' && (
                <span class='reason'>{reasonOf(row)}</span>
              )}
            </li>
          );
        })}
      </ul>
      {actor.linksLeftOut > 0 && <p>and {actor.linksLeftOut} more</p>}
    </section>
  );
};

const WORD_ENDS = /(?<=\.)/;

/** A long name breaks at its dots. */
const EventName = ({ name }: { readonly name: string }) => (
  <>
    {name.split(WORD_ENDS).map((word, at) => (
      <Fragment key={at}>
        {word}
        <wbr />
      </Fragment>
    ))}
  </>
);

const NEXT_MAX = 10;

/** Events that may come next, and delays with the time that is left. */
const Next = ({ actor }: { readonly actor: SentActor }) => {
  const [, kind, state] = actor.row;
  const moves = possibleMoves(catalogue.value.machines[kind]?.moves ?? [], state.split(' '));
  if (moves.length === 0) return null;
  const left = new Map(actor.delays.map(({ name, endMs }) => [`after ${name}`, endMs]));
  const inOrder = moves.toSorted(([, one], [, other]) =>
    Number(left.has(other)) - Number(left.has(one))
  );
  return (
    <section aria-label='Possible next events'>
      <h3>Possible next</h3>
      <ul class='next-events'>
        {inOrder.slice(0, NEXT_MAX).map(([from, cause, to]) => {
          const endMs = left.get(cause);
          return (
            <li key={`${from} ${cause} ${to}`}>
              <span>
                <EventName name={cause} /> → {spoken(shortState(to))}
              </span>
              {endMs !== undefined && endMs > nowMs.value && (
                <span class='age'>in {duration(endMs - nowMs.value)}</span>
              )}
            </li>
          );
        })}
      </ul>
      {moves.length > NEXT_MAX && <p class='more'>and {moves.length - NEXT_MAX} more</p>}
    </section>
  );
};

const Path = ({ path }: { readonly path: SentActor['path'] }) => (
  <section aria-label='Path'>
    <h3>Path</h3>
    <ol class='path'>
      {path.map((step, at) => {
        const until = path[at + 1]?.atMs ?? nowMs.value;
        return (
          <li key={`${step.atMs}/${at}`} aria-current={at === path.length - 1 ? 'step' : undefined}>
            <span class='event'>
              <EventName name={step.event} />
            </span>
            <b>{statesText(step.state.split(' '))}</b>
            <span class='age'>{span(until - step.atMs, duration)}</span>
          </li>
        );
      }).toReversed()}
    </ol>
  </section>
);

const Log = ({ log }: { readonly log: SentActor['log'] }) => (
  <section aria-label='Events'>
    <h3>Events</h3>
    <table class='log'>
      <thead>
        <tr>
          <th scope='col'>time (UTC)</th>
          <th scope='col'>event</th>
          <th scope='col'>led to</th>
        </tr>
      </thead>
      <tbody>
        {log.map(({ atMs, event, state }, at) => (
          <tr key={`${atMs}/${at}`}>
            <td>{timeOfDay(atMs)}</td>
            <td>
              <EventName name={event} />
            </td>
            <td>{state === null ? '' : statesText(state.split(' '))}</td>
          </tr>
        )).toReversed()}
      </tbody>
    </table>
  </section>
);

/** The panel of the actor in the address. */
export const ActorPanel = () => {
  const actor = focused.value;
  const id = route.value.actor;
  if (id === '') return null;
  if (actor === undefined) return <aside class='panel' aria-busy='true' aria-label={id} />;
  if (actor === null) {
    return (
      <aside class='panel' aria-label={id}>
        <h2>{id}</h2>
        <p>
          No such actor. It has ended, or it is passive until its next event.
        </p>
        <a href={addressWith({ actor: '' })}>Close</a>
      </aside>
    );
  }
  const [, kind, state, reason, status, sinceMs, bornMs] = actor.row;
  return (
    <aside class='panel' aria-label={id}>
      <header>
        <h2>
          <span class='of'>{spoken(kind)}</span> {id.slice(kind.length + 1) || id}
        </h2>
        <a class='close' href={addressWith({ actor: '' })} aria-label='Close'>×</a>
      </header>
      <StateText kind={kind} state={state} />
      <p class='ages'>
        {status === 'active' ? 'for' : `${status}, `} {span(nowMs.value - sinceMs, duration)}
        {' · alive '}
        {span(nowMs.value - bornMs, duration)}
      </p>
      <WhyItWaits reason={reason} verdict={actor.verdict} />
      <Links links={actor.links} actor={actor} />
      <Next actor={actor} />
      <Path path={actor.path} />
      <Log log={actor.log} />
      <details>
        <summary>Data</summary>
        <pre tabIndex={0}>{actor.context}</pre>
      </details>
    </aside>
  );
};
