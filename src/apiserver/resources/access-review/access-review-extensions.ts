/**
 * Access reviews in four forms: any user, any user in a namespace, the requesting user, and all rules of the requesting user. Answered by
 * the authorizer of all requests.
 */
import type {
  LocalSubjectAccessReview,
  NonResourceAttributes,
  ResourceAttributes,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  SubjectAccessReviewSpec,
} from "../../../api/generated/authorization.k8s.io/v1.ts";
import { badRequest } from "../../../api/machinery/status-error.ts";
import type { AccessAttributes, Authorizer } from "../../framework/authorization.ts";
import { answered } from "../../framework/outcome.ts";
import type { User } from "../../framework/request.ts";
import { ignoredSentence, understoodFields, understoodLabels, type UnderstoodSelector } from "./understood-selector.ts";
import type { ExtensionFactory } from "../../framework/server-context.ts";

const GROUP = "authorization.k8s.io";

export const subjectAccessReviewExtension: ExtensionFactory = ({ authorizer }) => ({
  group: GROUP,
  plural: "subjectaccessreviews",
  answer({ endpoint, object }) {
    const review = object as SubjectAccessReview;
    return answered(endpoint, { ...review, status: statusOf(authorizer, userOf(review.spec), review.spec) });
  },
});

export const localSubjectAccessReviewExtension: ExtensionFactory = ({ authorizer }) => ({
  group: GROUP,
  plural: "localsubjectaccessreviews",
  answer({ endpoint, object }) {
    const review = object as LocalSubjectAccessReview;
    return answered(endpoint, { ...review, status: statusOf(authorizer, userOf(review.spec), review.spec) });
  },
});

export const selfSubjectAccessReviewExtension: ExtensionFactory = ({ authorizer }) => ({
  group: GROUP,
  plural: "selfsubjectaccessreviews",
  answer({ endpoint, object, request }) {
    const review = object as SelfSubjectAccessReview;
    return answered(endpoint, { ...review, status: statusOf(authorizer, request.context.user, review.spec) });
  },
});

export const selfSubjectRulesReviewExtension: ExtensionFactory = ({ authorizer }) => ({
  group: GROUP,
  plural: "selfsubjectrulesreviews",
  answer({ endpoint, object, request }) {
    const { apiVersion, kind, spec } = object as SelfSubjectRulesReview;
    const { namespace = "" } = spec;
    if (namespace === "") throw badRequest("no namespace on request");
    // As upstream: the response omits the spec.
    return answered(endpoint, { kind, apiVersion, metadata: {}, spec: {}, status: authorizer.rulesFor(request.context.user, namespace) });
  },
});

interface Question {
  readonly resourceAttributes?: ResourceAttributes;
  readonly nonResourceAttributes?: NonResourceAttributes;
}

function statusOf(authorizer: Authorizer, user: User, question: Question): object {
  const { resourceAttributes, nonResourceAttributes: { verb = "", path = "" } = {} } = question;
  const fields = understoodFields(resourceAttributes?.fieldSelector);
  const labels = understoodLabels(resourceAttributes?.labelSelector);
  const asked = resourceAttributes === undefined ? { user, verb, path } : attributesOf(user, resourceAttributes, { fields, labels });
  const { allowed, denied, reason = "", evaluationError = "" } = authorizer.authorize(asked);
  const errors = [evaluationError, ignoredSentence("fieldSelector", fields), ignoredSentence("labelSelector", labels)];
  const shown = errors.filter((error) => error !== "").join("; ");
  return {
    allowed,
    ...(denied === true ? { denied } : {}),
    ...(reason === "" ? {} : { reason }),
    ...(shown === "" ? {} : { evaluationError: shown }),
  };
}

function userOf({ user = "", groups = [], uid, extra }: SubjectAccessReviewSpec): User {
  return { name: user, groups, ...(uid === undefined ? {} : { uid }), ...(extra === undefined ? {} : { extra }) };
}

function attributesOf(
  user: User,
  attributes: ResourceAttributes,
  { fields, labels }: { readonly fields: UnderstoodSelector; readonly labels: UnderstoodSelector },
): AccessAttributes {
  const { verb = "", group = "", version = "", resource = "", subresource = "", namespace = "", name = "" } = attributes;
  const selectors = {
    ...(fields.text === "" ? {} : { fieldSelector: fields.text }),
    ...(labels.text === "" ? {} : { labelSelector: labels.text }),
  };
  const accessed = { group, version: version === "" ? "*" : version, plural: resource, subresource, namespace, name, ...selectors };
  return { user, verb, path: "", resource: accessed };
}
