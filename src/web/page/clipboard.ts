/** Copies texts, and shows for some seconds what was copied. */
import { computed, signal } from '@preact/signals';
import { nowMs } from './feed.ts';

const NOTICE_MS = 3000;

const last = signal({ text: '', atMs: 0 });

/** What was copied; empty after some seconds. */
export const notice = computed(() =>
  nowMs.value - last.value.atMs < NOTICE_MS ? last.value.text : ''
);

const show = (text: string): void => {
  last.value = { text, atMs: nowMs.value };
};

/** Copies a text. A browser allows it only on localhost or with TLS. */
export const copyText = async (text: string): Promise<void> => {
  if (text === '') return;
  try {
    await navigator.clipboard.writeText(text);
    show(`Copied: ${text}`);
  } catch {
    show(`Copy it by hand: ${text}`);
  }
};
