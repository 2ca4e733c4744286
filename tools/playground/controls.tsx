/** The controls of the playground: what can happen next to the selected actor. */
import { signal } from '@preact/signals';
import { copyText } from '../../src/web/page/clipboard.ts';
import { cursor, goLive } from '../../src/web/page/history.ts';
import { addressWith, go, route } from '../../src/web/page/route.ts';
import { shortState, spoken, statesText } from '../../src/web/page/words.ts';
import { kindInId } from '../../src/api/actor-board.ts';
import { ACTORS } from './actors.ts';
import { type Choice, type ChoiceGroup, GROUPS, type Sandbox } from './sandbox.ts';

/** The current sandbox. */
export const sandbox = signal<Sandbox | undefined>(undefined);
/** Grows with every event, so that the choices are made again. */
export const turn = signal(0);

/** What the controls do. */
export interface ControlActions {
  readonly fire: (choice: Choice) => void;
  readonly undo: () => void;
  readonly startOver: () => void;
}

const ABOUT: Readonly<Record<ChoiceGroup, string>> = {
  Answers: 'The answer to what it does',
  Events: 'Events from outside',
  Time: 'Time passes',
  Faults: 'Faults',
};

const ChoiceButton = ({ choice, fire }: {
  readonly choice: Choice;
  readonly fire: ControlActions['fire'];
}) => (
  <li>
    <button
      type='button'
      class={choice.leadsTo.length === 0 ? 'stays' : ''}
      disabled={cursor.value !== undefined}
      title={choice.type}
      onClick={() => fire(choice)}
    >
      <span>{choice.label}</span>
      <span class='leads-to'>
        {choice.leadsTo.length === 0
          ? 'stays'
          : `→ ${choice.leadsTo.map((path) => spoken(shortState(path))).join(', ')}`}
      </span>
    </button>
  </li>
);

const Choices = ({ choices, fire }: {
  readonly choices: readonly Choice[];
  readonly fire: ControlActions['fire'];
}) => (
  <>
    {GROUPS.map((group) => {
      const own = choices.filter((choice) => choice.group === group);
      return own.length === 0
        ? null
        : (
          <section key={group} class={`choices ${group.toLowerCase()}`} aria-label={ABOUT[group]}>
            <h3>{ABOUT[group]}</h3>
            <ul>
              {own.map((choice) => (
                <ChoiceButton
                  key={`${choice.type} ${choice.label}`}
                  choice={choice}
                  fire={fire}
                />
              ))}
            </ul>
          </section>
        );
    })}
  </>
);

const ActorPicker = () => (
  <select
    aria-label='Actor'
    value={route.value.actor}
    onChange={({ currentTarget: { value } }) =>
      go({ actor: value, kind: kindInId(value), search: '', state: '' })}
  >
    <option value=''>Select an actor …</option>
    {ACTORS.map(({ id, about }) => <option key={id} value={id}>{about}</option>)}
  </select>
);

/** All actors, as long as none is selected. */
const ActorLinks = () => (
  <ul class='cast'>
    {ACTORS.map(({ id, about }) => (
      <li key={id}>
        <a href={addressWith({ actor: id, kind: kindInId(id), search: '', state: '' })}>{about}</a>
        <span>{statesText(sandbox.value?.board.row(id)?.state.split(' ') ?? [])}</span>
      </li>
    ))}
  </ul>
);

const Past = () =>
  cursor.value === undefined ? null : (
    <p class='hint'>
      The page shows the past. <button type='button' onClick={goLive}>Return to the present</button>
      {' '}
      to go on.
    </p>
  );

/** The panel beside the page. */
export const Controls = ({ fire, undo, startOver }: ControlActions) => {
  const { actor } = route.value;
  const choices = turn.value >= 0 ? sandbox.value?.choices(actor) ?? [] : [];
  const fired = sandbox.value?.trace().length ?? 0;
  return (
    <aside class='controls' aria-label='Playground'>
      <h2>Playground</h2>
      <p>
        The statecharts of Tidegate, run in this browser. Select an actor, answer its calls, fire
        events, inject faults. Nothing leaves this page.
      </p>
      <ActorPicker />
      <div class='tools' role='group' aria-label='The whole playground'>
        <button type='button' disabled={fired === 0} onClick={undo}>Undo</button>
        <button type='button' disabled={fired === 0} onClick={startOver}>Start over</button>
        <button type='button' onClick={() => void copyText(location.href)}>Copy the link</button>
      </div>
      <p class='fired' role='status'>{fired} {fired === 1 ? 'event' : 'events'} fired</p>
      <Past />
      {actor === '' && <ActorLinks />}
      {actor !== '' && choices.length === 0 && (
        <p class='hint'>This actor has ended. Nothing can happen to it any more.</p>
      )}
      <Choices choices={choices} fire={fire} />
    </aside>
  );
};
