/** Kinds that need something which cannot be pure. In any order: each has its own. */
import type { ExtensionFactory } from "../extension.ts";
import { podExtension } from "./pod/pod-extension.ts";
import { serviceExtension } from "./service/service-extension.ts";
import { subjectAccessReviewExtension } from "./subject-access-review/subject-access-review-extension.ts";

export const all: readonly ExtensionFactory[] = [podExtension, serviceExtension, subjectAccessReviewExtension];
