/** Pods for tests: each names only what its case is about. What is given may be wrong in any way, so it is plain JSON. */
import type { Pod } from "../../../../generated/core/v1.ts";
import type { FieldError } from "../../../../machinery/field-error.ts";
import { validateDnsLabel, validateDnsSubdomain, validateLabelValue, validateQualifiedName } from "../../../../machinery/names.ts";
import type { JsonObject } from "../../../../machinery/object.ts";
import { problems } from "../../../../testing/kind.ts";
import { defaultPod } from "../defaults/pod.ts";
import { preparePodForCreate } from "../prepare.ts";
import { validatePod } from "../validation/pod.ts";

export interface PodParts {
  readonly metadata?: JsonObject;
  readonly spec?: JsonObject;
  /** Of the one container, called "web", unless `spec` brings its own. */
  readonly container?: JsonObject;
  readonly status?: JsonObject;
}

/** A pod as a client would send it. */
export function sentPod({ metadata, spec, container, status }: PodParts): Pod {
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "default", ...metadata },
    spec: { containers: [{ name: "web", image: "nginx", ...container }], ...spec },
    ...(status && { status }),
  };
  return pod as Pod;
}

/** A pod as it is after its defaults, and prepared as a new one. */
export function newPod(parts: PodParts): Pod {
  return preparePodForCreate(defaultPod(sentPod(parts)));
}

/** All that is wrong with a new pod, one line each. */
export function mistakesOf(parts: PodParts): readonly string[] {
  return linesOf(validatePod(newPod(parts)));
}

export function linesOf(errors: Iterable<FieldError>): readonly string[] {
  return problems(errors, "Pod");
}

/** The long sentences that names.ts is tested for. */
export const NOT_A_LABEL = validateDnsLabel("_").join("");
export const NOT_A_SUBDOMAIN = validateDnsSubdomain("_").join("");
export const NOT_A_QUALIFIED_NAME = validateQualifiedName(" ").join("");
export const NOT_A_LABEL_VALUE = validateLabelValue(" ").join("");
