/** The types of the variables `request` and `namespaceObject` of admission expressions, as upstream declares them. */
import { declared, declareList, declareMap, declareObject, type Declaration } from "../../../../cel/types/declaration.ts";

const { string, bool, dyn, int, timestamp } = declared;
const strings = declareList(string);
const labels = declareMap(string, string);

const kind = declareObject("kubernetes.GroupVersionKind", { group: string, version: string, kind: string });
const resource = declareObject("kubernetes.GroupVersionResource", { group: string, version: string, resource: string });
const userInfo = declareObject("kubernetes.UserInfo", {
  username: string,
  uid: string,
  groups: strings,
  extra: declareMap(string, strings),
});

/** Without uid, object and oldObject: the objects are variables of their own. */
export const REQUEST: Declaration = declareObject("kubernetes.AdmissionRequest", {
  kind,
  resource,
  subResource: string,
  requestKind: kind,
  requestResource: resource,
  requestSubResource: string,
  name: string,
  namespace: string,
  operation: string,
  userInfo,
  dryRun: bool,
  options: dyn,
});

const condition = declareObject("kubernetes.NamespaceCondition", {
  status: string,
  type: string,
  lastTransitionTime: timestamp,
  message: string,
  reason: string,
});

const metadata = declareObject("kubernetes.NamespaceMetadata", {
  name: string,
  generateName: string,
  namespace: string,
  labels,
  annotations: labels,
  UID: string,
  creationTimestamp: timestamp,
  deletionGracePeriodSeconds: int,
  deletionTimestamp: timestamp,
  generation: int,
  resourceVersion: string,
  finalizers: strings,
});

export const NAMESPACE: Declaration = declareObject("kubernetes.Namespace", {
  metadata,
  spec: declareObject("kubernetes.NamespaceSpec", { finalizers: strings }),
  status: declareObject("kubernetes.NamespaceStatus", { conditions: declareList(condition), phase: string }),
});
