/** Resources with impure behaviour. Independent of each other, in any order. */
import {
  localSubjectAccessReviewExtension,
  selfSubjectAccessReviewExtension,
  selfSubjectRulesReviewExtension,
  subjectAccessReviewExtension,
} from "./access-review/access-review-extensions.ts";
import {
  mutatingAdmissionPolicyBindingExtension,
  mutatingAdmissionPolicyExtension,
  validatingAdmissionPolicyBindingExtension,
  validatingAdmissionPolicyExtension,
} from "./admission-policy/admission-policy-extensions.ts";
import { bindingExtension } from "./binding/binding-extension.ts";
import { componentStatusExtension } from "./component-status/component-status-extension.ts";
import { podCertificateRequestExtension } from "./pod-certificate-request/pod-certificate-request-extension.ts";
import { podExtension } from "./pod/pod-extension.ts";
import { resourceClaimExtension, resourceClaimTemplateExtension } from "./resource-claim/resource-claim-extensions.ts";
import { nodeMetricsExtension, podMetricsExtension } from "./resource-metrics/resource-metrics-extensions.ts";
import { clusterRoleBindingExtension, clusterRoleExtension, roleBindingExtension, roleExtension } from "./role/role-extensions.ts";
import { selfSubjectReviewExtension } from "./self-subject-review/self-subject-review-extension.ts";
import { serviceAccountExtension } from "./service-account/token-request-extension.ts";
import { serviceExtension } from "./service/service-extension.ts";
import { tokenReviewExtension } from "./token-review/token-review-extension.ts";
import type { ExtensionFactory } from "../framework/server-context.ts";

export const all: readonly ExtensionFactory[] = [
  bindingExtension,
  clusterRoleBindingExtension,
  clusterRoleExtension,
  componentStatusExtension,
  localSubjectAccessReviewExtension,
  mutatingAdmissionPolicyBindingExtension,
  mutatingAdmissionPolicyExtension,
  nodeMetricsExtension,
  podCertificateRequestExtension,
  podExtension,
  podMetricsExtension,
  resourceClaimExtension,
  resourceClaimTemplateExtension,
  roleBindingExtension,
  roleExtension,
  selfSubjectAccessReviewExtension,
  selfSubjectReviewExtension,
  selfSubjectRulesReviewExtension,
  serviceAccountExtension,
  serviceExtension,
  subjectAccessReviewExtension,
  tokenReviewExtension,
  validatingAdmissionPolicyBindingExtension,
  validatingAdmissionPolicyExtension,
];
