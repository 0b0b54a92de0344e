/**
 * Would somebody be allowed to? In four forms: anybody, anybody in a namespace, whoever asks, and everything that whoever asks may do.
 * The answer is that of the authorizer which every request asks.
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
import type { FieldSelectorRequirement, LabelSelectorRequirement } from "../../../api/generated/meta/v1.ts";
import { parseFieldSelector } from "../../../api/machinery/field-selector.ts";
import { SelectorError } from "../../../api/machinery/label-requirement.ts";
import { parseLabelSelector } from "../../../api/machinery/label-selector.ts";
import { badRequest } from "../../../api/machinery/status-error.ts";
import type { AccessAttributes, Authorizer } from "../../authorization.ts";
import type { ExtensionFactory } from "../../extension.ts";
import { answered } from "../../outcome.ts";
import type { User } from "../../request.ts";

const GROUP = "authorization.k8s.io";

export const subjectAccessReviewExtension: ExtensionFactory = ({ authorizer }) => ({
  group: GROUP,
  plural: "subjectaccessreviews",
  answer({ endpoint, object }) {
    const review = object as unknown as SubjectAccessReview;
    return answered(endpoint, { ...review, status: statusOf(authorizer, userOf(review.spec), review.spec) });
  },
});

export const localSubjectAccessReviewExtension: ExtensionFactory = ({ authorizer }) => ({
  group: GROUP,
  plural: "localsubjectaccessreviews",
  answer({ endpoint, object }) {
    const review = object as unknown as LocalSubjectAccessReview;
    return answered(endpoint, { ...review, status: statusOf(authorizer, userOf(review.spec), review.spec) });
  },
});

export const selfSubjectAccessReviewExtension: ExtensionFactory = ({ authorizer }) => ({
  group: GROUP,
  plural: "selfsubjectaccessreviews",
  answer({ endpoint, object, request }) {
    const review = object as unknown as SelfSubjectAccessReview;
    return answered(endpoint, { ...review, status: statusOf(authorizer, request.context.user, review.spec) });
  },
});

export const selfSubjectRulesReviewExtension: ExtensionFactory = ({ authorizer }) => ({
  group: GROUP,
  plural: "selfsubjectrulesreviews",
  answer({ endpoint, object, request }) {
    const { apiVersion, kind, spec } = object as unknown as SelfSubjectRulesReview;
    const { namespace = "" } = spec;
    if (namespace === "") throw badRequest("no namespace on request");
    // As upstream: the answer does not repeat the question.
    return answered(endpoint, { kind, apiVersion, metadata: {}, spec: {}, status: authorizer.rulesFor(request.context.user, namespace) });
  },
});

interface Question {
  readonly resourceAttributes?: ResourceAttributes;
  readonly nonResourceAttributes?: NonResourceAttributes;
}

function statusOf(authorizer: Authorizer, user: User, question: Question): object {
  const { allowed, denied, reason } = authorizer.authorize(attributesOf(user, question));
  const evaluationError = [...ignoredSelectors(question.resourceAttributes ?? {})].join("; ");
  return {
    allowed,
    ...(denied === true ? { denied } : {}),
    ...(reason === undefined ? {} : { reason }),
    ...(evaluationError === "" ? {} : { evaluationError }),
  };
}

/** What is not understood of a selector is left out of the question, which is then about more; who asks is told. */
function* ignoredSelectors({ fieldSelector, labelSelector }: ResourceAttributes): Iterable<string> {
  const ofFields = fieldSelector && ignoredPart(fieldSelector, parseFieldSelector, isKnownOfFields);
  if (ofFields !== undefined) yield `spec.resourceAttributes.fieldSelector ${ofFields} due to parse error`;
  const ofLabels = labelSelector && ignoredPart(labelSelector, parseLabelSelector, isKnownOfLabels);
  if (ofLabels !== undefined) yield `spec.resourceAttributes.labelSelector ${ofLabels} due to parse error`;
}

function ignoredPart<Requirement>(
  { rawSelector = "", requirements = [] }: { readonly rawSelector?: string; readonly requirements?: readonly Requirement[] },
  parse: (text: string) => unknown,
  isKnown: (requirement: Requirement) => boolean,
): "ignored" | "partially ignored" | undefined {
  try {
    parse(rawSelector);
  } catch (error) {
    if (error instanceof SelectorError) return "ignored";
    throw error;
  }
  const known = requirements.filter(isKnown).length;
  if (known === requirements.length) return undefined;
  return known === 0 ? "ignored" : "partially ignored";
}

function isKnownOfFields({ operator, values = [] }: FieldSelectorRequirement): boolean {
  return (operator === "In" || operator === "NotIn") && values.length === 1;
}

function isKnownOfLabels({ operator }: LabelSelectorRequirement): boolean {
  return ["In", "NotIn", "Exists", "DoesNotExist"].includes(operator);
}

function userOf({ user = "", groups = [], uid, extra }: SubjectAccessReviewSpec): User {
  return { name: user, groups, ...(uid === undefined ? {} : { uid }), ...(extra === undefined ? {} : { extra }) };
}

function attributesOf(user: User, { resourceAttributes, nonResourceAttributes }: Question): AccessAttributes {
  if (resourceAttributes === undefined) return { user, verb: nonResourceAttributes?.verb ?? "", path: nonResourceAttributes?.path ?? "" };
  const { verb = "", group = "", version = "*", resource = "", subresource = "", namespace = "", name = "" } = resourceAttributes;
  return { user, verb, path: "", resource: { group, version, plural: resource, subresource, namespace, name } };
}
