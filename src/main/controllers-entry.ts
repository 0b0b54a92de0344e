/** Package entry `k8ts/controllers`: the API for custom controllers. All exports are public and stable. */
export {
  after,
  defineController,
  onChange,
  watch,
  watchEveryKind,
  type Change,
  type Controller,
  type ControllerContext,
  type ControllerDefinition,
  type KeysOf,
  type Outcome,
  type Pass,
  type Reconcile,
  type Watch,
  type WatchOfEveryKind,
  type WorkKey,
} from "../controllers/runtime/controller.ts";
export { controlledBy, itsController, itself, keyOf, keyText, objectText } from "../controllers/runtime/keys.ts";
export { claim, type ClaimOptions } from "../controllers/shared/adoption.ts";
export { labelSelectorFromObject, type LabelSelector, type LabelSelectorObject } from "../api/machinery/selectors/label-selector.ts";
export { startOperator, type Operator, type OperatorOptions } from "../components/leader-election/operator.ts";
export type { Election } from "../components/leader-election/leader-elected.ts";
export { startWebhookServer, type WebhookServer, type WebhookServerOptions } from "../components/webhook-server/start-webhook-server.ts";
export type {
  AdmissionCall,
  AdmissionDecision,
  AdmissionHandler,
  ConversionHandler,
} from "../components/webhook-server/webhook-reviews.ts";
