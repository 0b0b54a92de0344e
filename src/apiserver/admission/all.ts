/**
 * The plugins in the order of asking, which is upstream's: mutating plugins see what those before them made of the object. Each under
 * the name that --enable-admission-plugins and --disable-admission-plugins have for it.
 */
import type { AdmissionPluginFactory } from "../admission.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";

export interface ListedPlugin {
  readonly make: AdmissionPluginFactory;
  /** Asked unless somebody said otherwise. */
  readonly byDefault: boolean;
}

export const all: Readonly<Record<string, ListedPlugin>> = {
  NamespaceLifecycle: { make: namespaceLifecycle, byDefault: true },
};
