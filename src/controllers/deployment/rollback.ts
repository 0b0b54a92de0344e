/**
 * Rollback by the legacy annotation, as very old clients requested it. (`kubectl rollout undo` writes the old template itself.) Whatever
 * the result, the annotation is removed: nothing is tried twice.
 */
import { parseInt64 } from "../../api/apps/v1/annotated-number.ts";
import { ROLLBACK_ANNOTATION } from "../../api/apps/v1/deployment-rollback.ts";
import { revisionOf } from "../../api/apps/v1/deployment-revision.ts";
import { isSameTemplate, withoutHashLabel } from "../../api/apps/v1/pod-template-hash.ts";
import type { Deployment } from "../../api/generated/apps/v1.ts";
import type { RecordedEvent } from "../../client/events/event-recorder.ts";
import { ownAnnotations, previousRevision, sharedAnnotations } from "./revisions.ts";
import { allReplicaSets, type Rollout } from "./rollout.ts";

export interface Rollback {
  /** The Deployment to write. */
  readonly deployment: Deployment;
  readonly event: RecordedEvent;
}

/** 0 is the previous revision; undefined: not requested. */
export function askedRevision({ metadata }: Deployment): bigint | undefined {
  const text = metadata.annotations?.[ROLLBACK_ANNOTATION] ?? "";
  return text === "" ? undefined : parseInt64(text);
}

export function planRollback(rollout: Rollout, asked: bigint): Rollback {
  const { deployment } = rollout;
  const all = allReplicaSets(rollout);
  const revision = asked === 0n ? previousRevision(all) : asked;
  if (revision === undefined) return refused(deployment, "DeploymentRollbackRevisionNotFound", "Unable to find last revision.");
  const source = all.find((one) => revisionOf(one) === revision);
  const template = source?.spec?.template;
  if (source === undefined || template === undefined || deployment.spec === undefined) {
    return refused(deployment, "DeploymentRollbackRevisionNotFound", "Unable to find the revision to rollback to.");
  }
  const { name } = deployment.metadata;
  if (isSameTemplate(deployment.spec.template, template)) {
    const message = `The rollback revision contains the same template as current deployment "${name}"`;
    return refused(deployment, "DeploymentRollbackTemplateUnchanged", message);
  }
  const message = `Rolled back deployment "${name}" to revision ${revision}`;
  return {
    deployment: withoutAsking({
      ...deployment,
      // The Deployment's annotations of that revision are restored, too: the change cause belongs to the template.
      metadata: {
        ...deployment.metadata,
        annotations: { ...ownAnnotations(deployment.metadata.annotations), ...sharedAnnotations(source.metadata.annotations) },
      },
      spec: { ...deployment.spec, template: withoutHashLabel(template) },
    }),
    event: { type: "Normal", reason: "DeploymentRollback", message, action: "DeploymentRollback" },
  };
}

function refused(deployment: Deployment, reason: string, message: string): Rollback {
  return { deployment: withoutAsking(deployment), event: { type: "Warning", reason, message, action: "DeploymentRollback" } };
}

function withoutAsking(deployment: Deployment): Deployment {
  const { [ROLLBACK_ANNOTATION]: _, ...annotations } = deployment.metadata.annotations ?? {};
  return { ...deployment, metadata: { ...deployment.metadata, annotations } };
}
