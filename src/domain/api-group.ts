/** The API group of the custom resources that Tidegate reads and writes. */

/** The group, also the prefix of our labels and annotations. */
export const API_GROUP = 'bigfleet.lucy.sh';

/** The version that is served. */
export const API_VERSION = 'v1alpha1';

/** `apiVersion` of every object of the group. */
export const GROUP_VERSION = `${API_GROUP}/${API_VERSION}`;

/** Where the API server serves the group. */
export const GROUP_PATH = `/apis/${GROUP_VERSION}`;
