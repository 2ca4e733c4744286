/** Requests to processes that may stall. */

/** What of a request is not as usual. */
export interface UnpooledRequest extends Omit<RequestInit, 'headers'> {
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * `fetch` on a connection of its own. A process that stalls closes a connection that was kept for
 * the next request as idle, although that request is on it.
 */
export const unpooledFetch = (
  url: string,
  { headers = {}, ...request }: UnpooledRequest = {},
): Promise<Response> => fetch(url, { ...request, headers: { ...headers, connection: 'close' } });
