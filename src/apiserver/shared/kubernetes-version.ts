/** Which Kubernetes the API is that of. Everything that tells a client so reads it here. */
export const KUBERNETES_VERSION = { major: "1", minor: "36", patch: "0" } as const;

/** The oldest minor version that components and clients may have to work with this one. */
export const OLDEST_COMPATIBLE_MINOR = "35";
