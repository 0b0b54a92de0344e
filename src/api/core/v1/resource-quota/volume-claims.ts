/** Usage of PersistentVolumeClaims: their number and requested storage, in total and per storage class. */
import type { PersistentVolumeClaim } from "../../../generated/core/v1.ts";
import type { KubeObject } from "../../../machinery/object.ts";
import { compareQuantities, quantityOf, scaledValue, type Quantity } from "../../../machinery/quantity.ts";
import { STORAGE_CLASS_ANNOTATION } from "../persistent-storage.ts";
import { readQuantity } from "../pod/resource-list.ts";
import { ONE, type Amounts } from "./amounts.ts";
import { countName, type QuotaEvaluator } from "./evaluator.ts";
import { isSelected } from "./scopes.ts";

const COUNT = countName("", "persistentvolumeclaims");
const CLAIMS = "persistentvolumeclaims";
const STORAGE = "requests.storage";
const OF_CLASS = ".storageclass.storage.k8s.io/";
const NAMES: readonly string[] = [COUNT, CLAIMS, STORAGE];

export const volumeClaimEvaluator: QuotaEvaluator = {
  group: "",
  plural: "persistentvolumeclaims",
  /** The status too, since it has the actual capacity. */
  handles: ({ operation, subresource }) =>
    (operation === "CREATE" && subresource === "") || (operation === "UPDATE" && (subresource === "" || subresource === "status")),
  namesAmong: (hard) =>
    [...hard].filter((name) => NAMES.includes(name) || name.endsWith(OF_CLASS + CLAIMS) || name.endsWith(OF_CLASS + STORAGE)),
  isInScope: (object, scope) => scope.scopeName === "VolumeAttributesClass" && isSelected(scope, attributesClassesOf(object)),
  usageOf: (object) => usageOf(object as PersistentVolumeClaim),
};

function usageOf(claim: PersistentVolumeClaim): Amounts {
  const usage = new Map<string, Quantity>([
    [COUNT, ONE],
    [CLAIMS, ONE],
  ]);
  const storageClass = claim.metadata.annotations?.[STORAGE_CLASS_ANNOTATION] ?? claim.spec?.storageClassName ?? "";
  if (storageClass !== "") usage.set(storageClass + OF_CLASS + CLAIMS, ONE);
  const storage = storageOf(claim);
  if (storage === undefined) return usage;
  usage.set(STORAGE, storage);
  if (storageClass !== "") usage.set(storageClass + OF_CLASS + STORAGE, storage);
  return usage;
}

/** The capacity counts if it exceeds the request: a failed expansion can be reverted, but its storage still exists. */
function storageOf({ spec, status }: PersistentVolumeClaim): Quantity | undefined {
  const asked = spec?.resources?.requests?.["storage"];
  if (asked === undefined) return undefined;
  const wanted = wholeBytes(readQuantity(asked));
  const given = status?.allocatedResources?.["storage"];
  const allocated = given === undefined ? undefined : readQuantity(given);
  return allocated !== undefined && compareQuantities(allocated, wanted) > 0 ? wholeBytes(allocated) : wanted;
}

function wholeBytes(quantity: Quantity): Quantity {
  const whole = quantityOf(scaledValue(quantity, 0), quantity.format);
  return compareQuantities(whole, quantity) === 0 ? quantity : whole;
}

/** The desired class, the current one, and the target of a modification. */
function attributesClassesOf(object: KubeObject): readonly string[] {
  const { spec, status } = object as PersistentVolumeClaim;
  const names = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  return names.filter((name) => name !== undefined && name !== "") as readonly string[];
}
