/** The Kubernetes version that the API implements. Everything that reports it to clients reads it here. */
export const KUBERNETES_VERSION = { major: "1", minor: "36", patch: "0" } as const;

/** The oldest minor version of components and clients that is compatible with this one. */
export const OLDEST_COMPATIBLE_MINOR = "35";
