/** Pods for tests: each names only what its case is about. Values may be invalid in any way, so they are plain JSON. */
import type { Pod } from "../../../../generated/core/v1.ts";
import type { FieldError } from "../../../../machinery/field-error.ts";
import { errorsOf } from "../../../../machinery/findings.ts";
import { validateDnsLabel, validateDnsSubdomain, validateLabelValue, validateQualifiedName } from "../../../../machinery/names.ts";
import type { JsonObject } from "../../../../machinery/object.ts";
import { problems } from "../../../../testing/kind.ts";
import { defaultPod } from "../defaults/pod.ts";
import { preparePodForCreate } from "../prepare.ts";
import { validatePod } from "../validation/pod.ts";

export interface PodParts {
  readonly metadata?: JsonObject;
  readonly spec?: JsonObject;
  /** Fields of the one container, named "web", unless `spec` has its own containers. */
  readonly container?: JsonObject;
  readonly status?: JsonObject;
}

/** A Pod as a client sends it. */
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

/** A Pod with defaults, prepared for create. */
export function newPod(parts: PodParts): Pod {
  return preparePodForCreate(defaultPod(sentPod(parts)));
}

/** All validation errors of a new Pod, one line each. */
export function mistakesOf(parts: PodParts): readonly string[] {
  return linesOf(errorsOf((errors) => validatePod(errors, newPod(parts))));
}

export function linesOf(errors: Iterable<FieldError>): readonly string[] {
  return problems(errors, "Pod");
}

/** Long messages that names.test.ts covers. */
export const NOT_A_LABEL = validateDnsLabel("_").join("");
export const NOT_A_SUBDOMAIN = validateDnsSubdomain("_").join("");
export const NOT_A_QUALIFIED_NAME = validateQualifiedName(" ").join("");
export const NOT_A_LABEL_VALUE = validateLabelValue(" ").join("");
