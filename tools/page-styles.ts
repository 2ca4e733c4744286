/** The style sheets of the live page, in `src/web/page`, in their order. */
export const PAGE_STYLES = [
  'page.css',
  'board.css',
  'chart.css',
  'timeline.css',
  'scrubber.css',
] as const;
