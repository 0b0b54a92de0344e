/** The Pod builder of all tests: a valid Pod, of which a case names only what it is about. Rooms with more to say wrap it. */
import type { Pod, PodSpec, PodStatus } from "../generated/core/v1.ts";

export interface PodParts {
  readonly metadata?: Partial<Pod["metadata"]>;
  readonly spec?: Partial<PodSpec>;
  readonly status?: PodStatus;
}

/** Pod default/p with one container "c" of image "i". */
export function buildPod({ metadata, spec, status }: PodParts = {}): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "default", ...metadata },
    spec: { containers: [{ name: "c", image: "i" }], ...spec },
    ...(status && { status }),
  };
}
