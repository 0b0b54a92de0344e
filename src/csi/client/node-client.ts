/** The service Node of a CSI driver, over its socket. */
import { entriesOf } from "../../base/protobuf/shared-messages.ts";
import type {
  CsiCallOptions,
  CsiNodeCapability,
  CsiNodeDriver,
  CsiNodeExpandRequest,
  CsiNodeInfo,
  CsiPublishRequest,
  CsiStageRequest,
  CsiUsage,
  CsiVolumeStats,
} from "../contract.ts";
import { capabilityMessage, capacityMessage, namesOf, recordOf } from "../messages/common.ts";
import {
  NODE_CAPABILITIES,
  nodeExpandVolume,
  nodeGetCapabilities,
  nodeGetInfo,
  nodeGetVolumeStats,
  nodePublishVolume,
  nodeStageVolume,
  nodeUnpublishVolume,
  nodeUnstageVolume,
  USAGE_UNITS,
} from "../messages/node.ts";
import { CsiIdentityClient, type CsiConnection } from "./csi-client.ts";

export class CsiNodeClient extends CsiIdentityClient implements CsiNodeDriver {
  readonly name: string;
  readonly #pathFor: (path: string) => string;

  /** `pathFor`: how the driver names a path of this node in its own file system. */
  constructor(name: string, connection: CsiConnection, pathFor: (path: string) => string) {
    super(connection);
    this.name = name;
    this.#pathFor = pathFor;
  }

  async nodeGetInfo(options?: CsiCallOptions): Promise<CsiNodeInfo> {
    const { nodeId, maxVolumesPerNode, accessibleTopology } = await this.connection.call(nodeGetInfo, {}, options);
    return { nodeId, maxVolumesPerNode, accessibleTopology: accessibleTopology && recordOf(accessibleTopology.segments) };
  }

  async nodeGetCapabilities(options?: CsiCallOptions): Promise<ReadonlySet<CsiNodeCapability>> {
    const { capabilities } = await this.connection.call(nodeGetCapabilities, {}, options);
    return namesOf(capabilities, NODE_CAPABILITIES);
  }

  async nodeStageVolume(request: CsiStageRequest, options?: CsiCallOptions): Promise<void> {
    const { volumeId, stagingTargetPath, capability, publishContext, secrets, volumeContext } = request;
    const maps = { publishContext: entriesOf(publishContext), secrets: entriesOf(secrets), volumeContext: entriesOf(volumeContext) };
    const paths = { stagingTargetPath: this.#pathFor(stagingTargetPath) };
    const message = { volumeId, ...paths, volumeCapability: capabilityMessage(capability), ...maps };
    await this.connection.call(nodeStageVolume, message, options);
  }

  async nodeUnstageVolume(request: Parameters<CsiNodeDriver["nodeUnstageVolume"]>[0], options?: CsiCallOptions): Promise<void> {
    const stagingTargetPath = this.#pathFor(request.stagingTargetPath);
    await this.connection.call(nodeUnstageVolume, { ...request, stagingTargetPath }, options);
  }

  async nodePublishVolume(request: CsiPublishRequest, options?: CsiCallOptions): Promise<void> {
    const { volumeId, stagingTargetPath, targetPath, capability, isReadOnly, publishContext, secrets, volumeContext } = request;
    const maps = { publishContext: entriesOf(publishContext), secrets: entriesOf(secrets), volumeContext: entriesOf(volumeContext) };
    const paths = { stagingTargetPath: this.#pathFor(stagingTargetPath), targetPath: this.#pathFor(targetPath), readonly: isReadOnly };
    await this.connection.call(
      nodePublishVolume,
      { volumeId, ...paths, volumeCapability: capabilityMessage(capability), ...maps },
      options,
    );
  }

  async nodeUnpublishVolume(request: Parameters<CsiNodeDriver["nodeUnpublishVolume"]>[0], options?: CsiCallOptions): Promise<void> {
    await this.connection.call(nodeUnpublishVolume, { ...request, targetPath: this.#pathFor(request.targetPath) }, options);
  }

  async nodeGetVolumeStats(request: Parameters<CsiNodeDriver["nodeGetVolumeStats"]>[0], options?: CsiCallOptions): Promise<CsiVolumeStats> {
    const paths = { volumePath: this.#pathFor(request.volumePath), stagingTargetPath: this.#pathFor(request.stagingTargetPath) };
    const { usage, volumeCondition } = await this.connection.call(nodeGetVolumeStats, { ...request, ...paths }, options);
    return {
      usage: usage.flatMap(({ unit, ...sizes }): CsiUsage[] => {
        const name = USAGE_UNITS[unit];
        return name === undefined || name === "UNKNOWN" ? [] : [{ ...sizes, unit: name }];
      }),
      condition: volumeCondition && { isAbnormal: volumeCondition.abnormal, message: volumeCondition.message },
    };
  }

  async nodeExpandVolume(request: CsiNodeExpandRequest, options?: CsiCallOptions): Promise<number> {
    const { volumeId, volumePath, stagingTargetPath, capability, capacity, secrets } = request;
    const { capacityBytes } = await this.connection.call(
      nodeExpandVolume,
      {
        ...{ volumeId, volumePath: this.#pathFor(volumePath), stagingTargetPath: this.#pathFor(stagingTargetPath) },
        secrets: entriesOf(secrets),
        capacityRange: capacityMessage(capacity),
        volumeCapability: capabilityMessage(capability),
      },
      options,
    );
    return capacityBytes;
  }
}
