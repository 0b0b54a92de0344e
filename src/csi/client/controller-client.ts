/** The service Controller of a CSI driver, over its socket. */
import { entriesOf } from "../../base/protobuf/shared-messages.ts";
import type {
  CsiCallOptions,
  CsiCapacity,
  CsiControllerCapability,
  CsiControllerDriver,
  CsiCreateVolumeRequest,
  CsiMap,
  CsiVolume,
} from "../contract.ts";
import { CsiError } from "../csi-error.ts";
import { capabilityMessage, capacityMessage, namesOf, recordOf } from "../messages/common.ts";
import {
  CONTROLLER_CAPABILITIES,
  controllerExpandVolume,
  controllerGetCapabilities,
  controllerModifyVolume,
  controllerPublishVolume,
  controllerUnpublishVolume,
  createVolume,
  deleteVolume,
  getCapacity,
} from "../messages/controller.ts";
import { CsiIdentityClient } from "./csi-client.ts";

type Request<Call extends keyof CsiControllerDriver> = Parameters<CsiControllerDriver[Call]>[0] & object;

export class CsiControllerClient extends CsiIdentityClient implements CsiControllerDriver {
  async controllerGetCapabilities(options?: CsiCallOptions): Promise<ReadonlySet<CsiControllerCapability>> {
    const { capabilities } = await this.connection.call(controllerGetCapabilities, {}, options);
    return namesOf(capabilities, CONTROLLER_CAPABILITIES);
  }

  async createVolume(request: CsiCreateVolumeRequest, options?: CsiCallOptions): Promise<CsiVolume> {
    const { volume } = await this.connection.call(createVolume, createMessage(request), options);
    if (volume === undefined || volume.volumeId === "") {
      throw new CsiError("INTERNAL", `CreateVolume of ${request.name}: the driver answered without a volume id`);
    }
    const { volumeId, capacityBytes, volumeContext, accessibleTopology } = volume;
    const topology = accessibleTopology.map(({ segments }) => recordOf(segments));
    return { volumeId, capacityBytes, volumeContext: recordOf(volumeContext), accessibleTopology: topology };
  }

  async deleteVolume({ volumeId, secrets }: Request<"deleteVolume">, options?: CsiCallOptions): Promise<void> {
    await this.connection.call(deleteVolume, { volumeId, secrets: entriesOf(secrets) }, options);
  }

  async controllerPublishVolume(request: Request<"controllerPublishVolume">, options?: CsiCallOptions): Promise<CsiMap> {
    const { volumeId, nodeId, capability, isReadOnly, secrets, volumeContext } = request;
    const maps = { secrets: entriesOf(secrets), volumeContext: entriesOf(volumeContext) };
    const message = { volumeId, nodeId, volumeCapability: capabilityMessage(capability), readonly: isReadOnly, ...maps };
    const { publishContext } = await this.connection.call(controllerPublishVolume, message, options);
    return recordOf(publishContext);
  }

  async controllerUnpublishVolume(request: Request<"controllerUnpublishVolume">, options?: CsiCallOptions): Promise<void> {
    const { volumeId, nodeId, secrets } = request;
    await this.connection.call(controllerUnpublishVolume, { volumeId, nodeId, secrets: entriesOf(secrets) }, options);
  }

  async controllerExpandVolume(request: Request<"controllerExpandVolume">, options?: CsiCallOptions) {
    const { volumeId, capacity, secrets, capability } = request;
    const message = { volumeId, capacityRange: capacityMessage(capacity), secrets: entriesOf(secrets) };
    return this.connection.call(controllerExpandVolume, { ...message, volumeCapability: capabilityMessage(capability) }, options);
  }

  async controllerModifyVolume(request: Request<"controllerModifyVolume">, options?: CsiCallOptions): Promise<void> {
    const { volumeId, secrets, mutableParameters } = request;
    const message = { volumeId, secrets: entriesOf(secrets), mutableParameters: entriesOf(mutableParameters) };
    await this.connection.call(controllerModifyVolume, message, options);
  }

  async getCapacity(request: Request<"getCapacity">, options?: CsiCallOptions): Promise<CsiCapacity> {
    const { capabilities, parameters, accessibleTopology } = request;
    const { availableCapacity, maximumVolumeSize } = await this.connection.call(
      getCapacity,
      {
        volumeCapabilities: capabilities.map(capabilityMessage),
        parameters: entriesOf(parameters),
        accessibleTopology: accessibleTopology && { segments: entriesOf(accessibleTopology) },
      },
      options,
    );
    return {
      availableBytes: safeBytes(availableCapacity),
      maximumVolumeBytes: maximumVolumeSize && safeBytes(maximumVolumeSize.value),
    };
  }
}

function createMessage(request: CsiCreateVolumeRequest) {
  const { name, capacity, capabilities, parameters, secrets, source, accessibility, mutableParameters } = request;
  const topologies = (list: readonly CsiMap[]) => list.map((segments) => ({ segments: entriesOf(segments) }));
  return {
    name,
    capacityRange: capacityMessage(capacity),
    volumeCapabilities: capabilities.map(capabilityMessage),
    parameters: entriesOf(parameters),
    secrets: entriesOf(secrets),
    volumeContentSource: source && ("snapshotId" in source ? { snapshot: source } : { volume: source }),
    accessibilityRequirements: accessibility && {
      requisite: topologies(accessibility.requisite),
      preferred: topologies(accessibility.preferred),
    },
    mutableParameters: entriesOf(mutableParameters),
  };
}

/** A driver without a limit answers up to 2^63 - 1: more than 8 PiB are reported as that. */
function safeBytes(bytes: bigint): number {
  return Math.min(Number(bytes), Number.MAX_SAFE_INTEGER);
}
