/**
 * Sets the default class on an Ingress that names none; of several default classes, the newest wins. Equivalent to upstream's plugin of
 * this name: on create only, and not if the legacy annotation sets the class.
 */
import { ingresses } from "../../../api/networking.k8s.io/v1/ingress.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { Ingress } from "../../../api/generated/networking.k8s.io/v1.ts";
import type { AdmissionDependencies, AdmissionPlugin } from "../../framework/admission.ts";
import { isCreateOf } from "../../shared/admission-request.ts";
import { byAge, PreferredObject } from "../../shared/preferred-object.ts";

const INGRESS_CLASSES = { group: "networking.k8s.io", plural: "ingressclasses" };

const IS_DEFAULT = "ingressclass.kubernetes.io/is-default-class";

/** Legacy annotation that predates the field; an Ingress that has it is not defaulted. */
const CLASS_ANNOTATION = "kubernetes.io/ingress.class";

export function defaultIngressClass({ objects }: Pick<AdmissionDependencies, "objects">): AdmissionPlugin {
  const defaultClass = new PreferredObject(isDefault, byAge);
  return {
    name: "DefaultIngressClass",

    start: () => objects.follow(INGRESS_CLASSES, defaultClass),

    mutate(request) {
      if (!isCreateOf(request, ingresses)) return undefined;
      const { object: ingress } = request;
      if (hasClass(ingress)) return undefined;
      const ingressClassName = defaultClass.get()?.metadata.name;
      return ingressClassName === undefined ? undefined : ({ ...ingress, spec: { ...ingress.spec, ingressClassName } } as KubeObject);
    },
  };
}

function isDefault({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[IS_DEFAULT] === "true";
}

function hasClass({ metadata: { annotations = {} }, spec }: Ingress): boolean {
  return Object.hasOwn(annotations, CLASS_ANNOTATION) || spec?.ingressClassName !== undefined;
}
