/** The API groups of the custom resources that Tidegate reads and writes. */

/** The fleet's group, also the prefix of its labels and annotations. */
export const API_GROUP = 'bigfleet.lucy.sh';

/** The version that is served, of both groups. */
export const API_VERSION = 'v1alpha1';

/** `apiVersion` of every object of the fleet's group. */
export const GROUP_VERSION = `${API_GROUP}/${API_VERSION}`;

/** Where the API server serves the fleet's group. */
export const GROUP_PATH = `/apis/${GROUP_VERSION}`;

/** The group of pod and node lifecycles, which need no fleet; also a prefix of annotations. */
export const LIFECYCLE_GROUP = 'lifecycle.tidegate.dev';

/** `apiVersion` of every object of the lifecycle group. */
export const LIFECYCLE_GROUP_VERSION = `${LIFECYCLE_GROUP}/${API_VERSION}`;
