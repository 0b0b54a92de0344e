/**
 * The messages of etcd's gRPC API that the driver uses, and of those the fields that it uses. Numbers and meanings are facts
 * of etcd's wire format (package etcdserverpb, the same from 3.4 to 3.6); fields that are not named here are skipped.
 */
import type { Decoded, MessageDescriptor } from "../../base/protobuf/messages.ts";

export interface EtcdMethod {
  readonly path: string;
  readonly request: MessageDescriptor;
  readonly response: MessageDescriptor;
}

const responseHeader = {
  name: "ResponseHeader",
  fields: {
    clusterId: { number: 1, type: "uint64" },
    memberId: { number: 2, type: "uint64" },
    /** The newest revision of the responding member. */
    revision: { number: 3, type: "int64" },
  },
} as const satisfies MessageDescriptor;

const keyValue = {
  name: "KeyValue",
  fields: {
    key: { number: 1, type: "bytes" },
    createRevision: { number: 2, type: "int64" },
    modRevision: { number: 3, type: "int64" },
    value: { number: 5, type: "bytes" },
  },
} as const satisfies MessageDescriptor;
export type KeyValue = Decoded<typeof keyValue>;

const rangeRequest = {
  name: "RangeRequest",
  fields: {
    key: { number: 1, type: "bytes" },
    /** All keys from `key` to before this one. Without it: `key` alone. */
    rangeEnd: { number: 2, type: "bytes" },
    limit: { number: 3, type: "int64" },
    /** 0: the newest. */
    revision: { number: 4, type: "int64" },
    countOnly: { number: 9, type: "bool" },
  },
} as const satisfies MessageDescriptor;

const rangeResponse = {
  name: "RangeResponse",
  fields: {
    header: { number: 1, type: responseHeader },
    kvs: { number: 2, type: keyValue, repeated: true },
    /** Of all keys in the range, whatever the limit. */
    count: { number: 4, type: "int64" },
  },
} as const satisfies MessageDescriptor;

const putRequest = {
  name: "PutRequest",
  fields: {
    key: { number: 1, type: "bytes" },
    value: { number: 2, type: "bytes" },
    /** etcd deletes the key when this lease expires. 0: never. Signed; etcd grants positive ones. */
    lease: { number: 3, type: "uint64" },
  },
} as const satisfies MessageDescriptor;

const deleteRangeRequest = {
  name: "DeleteRangeRequest",
  fields: { key: { number: 1, type: "bytes" } },
} as const satisfies MessageDescriptor;

/** Exactly one of the fields. */
const requestOp = {
  name: "RequestOp",
  fields: {
    range: { number: 1, type: rangeRequest },
    put: { number: 2, type: putRequest },
    deleteRange: { number: 3, type: deleteRangeRequest },
  },
} as const satisfies MessageDescriptor;

const responseOp = {
  name: "ResponseOp",
  fields: { range: { number: 1, type: rangeResponse } },
} as const satisfies MessageDescriptor;

export const COMPARE_EQUAL = 0;
export const COMPARE_GREATER = 1;
export const TARGET_CREATE_REVISION = 1;
export const TARGET_MOD_REVISION = 2;

const compare = {
  name: "Compare",
  fields: {
    result: { number: 1, type: "int32" },
    target: { number: 2, type: "int32" },
    key: { number: 3, type: "bytes" },
    createRevision: { number: 5, type: "int64" },
    modRevision: { number: 6, type: "int64" },
  },
} as const satisfies MessageDescriptor;

const txnRequest = {
  name: "TxnRequest",
  fields: {
    compare: { number: 1, type: compare, repeated: true },
    success: { number: 2, type: requestOp, repeated: true },
    failure: { number: 3, type: requestOp, repeated: true },
  },
} as const satisfies MessageDescriptor;

const txnResponse = {
  name: "TxnResponse",
  fields: {
    header: { number: 1, type: responseHeader },
    succeeded: { number: 2, type: "bool" },
    responses: { number: 3, type: responseOp, repeated: true },
  },
} as const satisfies MessageDescriptor;
export type TxnResponse = Decoded<typeof txnResponse>;

const compactionRequest = {
  name: "CompactionRequest",
  fields: { revision: { number: 1, type: "int64" } },
} as const satisfies MessageDescriptor;

const compactionResponse = { name: "CompactionResponse", fields: {} } as const satisfies MessageDescriptor;

const leaseGrantRequest = {
  name: "LeaseGrantRequest",
  fields: { ttlSeconds: { number: 1, type: "int64" } },
} as const satisfies MessageDescriptor;

const leaseGrantResponse = {
  name: "LeaseGrantResponse",
  fields: { id: { number: 2, type: "uint64" } },
} as const satisfies MessageDescriptor;

const watchCreateRequest = {
  name: "WatchCreateRequest",
  fields: {
    key: { number: 1, type: "bytes" },
    rangeEnd: { number: 2, type: "bytes" },
    startRevision: { number: 3, type: "int64" },
    progressNotify: { number: 4, type: "bool" },
    previousKeyValue: { number: 6, type: "bool" },
    /** Whether a response too large for one message may be split. */
    fragment: { number: 8, type: "bool" },
  },
} as const satisfies MessageDescriptor;

/** Exactly one of the fields. */
const watchRequest = {
  name: "WatchRequest",
  fields: {
    create: { number: 1, type: watchCreateRequest },
    progress: { number: 3, type: { name: "WatchProgressRequest", fields: {} } },
  },
} as const satisfies MessageDescriptor;

export const EVENT_DELETE = 1;

const event = {
  name: "Event",
  fields: {
    /** 0: put, 1: delete. */
    type: { number: 1, type: "int32" },
    kv: { number: 2, type: keyValue },
    previous: { number: 3, type: keyValue },
  },
} as const satisfies MessageDescriptor;
export type WatchEvent = Decoded<typeof event>;

const watchResponse = {
  name: "WatchResponse",
  fields: {
    header: { number: 1, type: responseHeader },
    created: { number: 3, type: "bool" },
    canceled: { number: 4, type: "bool" },
    /** Above 0 if the watch was cancelled because it requested compacted history. */
    compactRevision: { number: 5, type: "int64" },
    cancelReason: { number: 6, type: "string" },
    /** More of the same response follows. */
    fragment: { number: 7, type: "bool" },
    events: { number: 11, type: event, repeated: true },
  },
} as const satisfies MessageDescriptor;
export type WatchResponse = Decoded<typeof watchResponse>;

const statusRequest = { name: "StatusRequest", fields: {} } as const satisfies MessageDescriptor;

const statusResponse = {
  name: "StatusResponse",
  fields: {
    header: { number: 1, type: responseHeader },
    version: { number: 2, type: "string" },
    dbSize: { number: 3, type: "int64" },
    /** The member id of the leader; 0 if none exists. */
    leader: { number: 4, type: "uint64" },
    dbSizeInUse: { number: 9, type: "int64" },
  },
} as const satisfies MessageDescriptor;
export type StatusResponse = Decoded<typeof statusResponse>;

export const RANGE = { path: "/etcdserverpb.KV/Range", request: rangeRequest, response: rangeResponse } as const satisfies EtcdMethod;
export const TXN = { path: "/etcdserverpb.KV/Txn", request: txnRequest, response: txnResponse } as const satisfies EtcdMethod;
export const COMPACT = {
  path: "/etcdserverpb.KV/Compact",
  request: compactionRequest,
  response: compactionResponse,
} as const satisfies EtcdMethod;
export const LEASE_GRANT = {
  path: "/etcdserverpb.Lease/LeaseGrant",
  request: leaseGrantRequest,
  response: leaseGrantResponse,
} as const satisfies EtcdMethod;
export const WATCH = { path: "/etcdserverpb.Watch/Watch", request: watchRequest, response: watchResponse } as const satisfies EtcdMethod;
export const STATUS = {
  path: "/etcdserverpb.Maintenance/Status",
  request: statusRequest,
  response: statusResponse,
} as const satisfies EtcdMethod;
