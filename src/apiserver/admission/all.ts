/** Order is the order of asking: mutating plugins see what those before them made of the object. */
import type { AdmissionDependencies, AdmissionPlugin } from "../admission.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";

export const all: readonly ((dependencies: AdmissionDependencies) => AdmissionPlugin)[] = [namespaceLifecycle];
