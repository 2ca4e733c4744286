/**
 * Names of requesters and interceptors in `lifecycle.k8s.io`: `example.com/drain` there is
 * `drain.example.com` here.
 *
 * Promises: a name that goes to the other API and back is the same; one that has no form here
 * (an upper-case key, a domain of one label) stays as it is, with its slash.
 */
import {
  IMPERATIVE_EVICTION,
  isQualifiedName,
  QUALIFIED_NAME_MAX,
} from '../eviction-requests/qualified-name.ts';

/** The last responder of every Eviction. */
export const NATIVE_IMPERATIVE_EVICTION = 'imperative-eviction.k8s.io/evictor';

const KEY_MAX = 63;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/u;
const KEY = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/u;

/** Whether `lifecycle.k8s.io` accepts the name: a domain, a slash and a key. */
export const isNativeName = (name: string): boolean => {
  const [domain = '', key = '', ...more] = name.split('/');
  return more.length === 0 && KEY.test(key) && key.length <= KEY_MAX &&
    domain.length <= QUALIFIED_NAME_MAX && domain.split('.').every((label) => LABEL.test(label));
};

/** The name here of a requester or responder there. */
export const nameFromNative = (name: string): string => {
  if (name === NATIVE_IMPERATIVE_EVICTION) return IMPERATIVE_EVICTION;
  const [domain = '', key = ''] = name.split('/');
  const joined = `${key}.${domain}`;
  const hasForm = isNativeName(name) && LABEL.test(key) && isQualifiedName(joined);
  return hasForm && joined !== IMPERATIVE_EVICTION ? joined : name;
};

/** The name there of a requester or interceptor here. */
export const nameToNative = (name: string): string => {
  if (name === IMPERATIVE_EVICTION) return NATIVE_IMPERATIVE_EVICTION;
  const dot = name.indexOf('.');
  return name.includes('/') || dot < 1 ? name : `${name.slice(dot + 1)}/${name.slice(0, dot)}`;
};
