"""Writes test/unit/proto/golden/: messages as JSON and as bytes, by Python's protobuf.

The bytes come from an implementation that shares no code with ours, so that a test that reads and
writes them shows that we speak the wire and not a dialect. Every message of the contract has its
cases; a message without one fails the run.

    python3 -m venv VENV && VENV/bin/pip install -r tools/proto-golden-requirements.txt
    VENV/bin/python tools/proto-golden.py
"""

import importlib
import json
import pathlib
import sys
import tempfile

from google.protobuf import json_format
from grpc_tools import protoc

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES = ["capacity", "provider", "shard"]
GOLDEN = ROOT / "test/unit/proto/golden"

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

IN = {"key": "topology.kubernetes.io/zone", "operator": "OPERATOR_IN", "values": ["b", "a"]}
SAME = {"key": "topology.kubernetes.io/zone", "operator": "OPERATOR_SAME"}
SPREAD = {
    "topologyKey": "topology.kubernetes.io/zone",
    "maxSkew": 1,
    "whenUnsatisfiable": "WHEN_UNSATISFIABLE_DO_NOT_SCHEDULE",
}
NEED = {
    "requirements": [IN, SAME],
    "aggregateResources": {"cpu": "1500m", "memory": "6Gi", "nvidia.com/gpu": "8"},
    "priority": 1000000,
    "spread": [SPREAD],
    "interruptionPenaltyBucket": "PENALTY_BUCKET_16",
    "reclamationPenaltyBucket": "PENALTY_BUCKET_HALF_DOLLAR",
    "minUnit": {"cpu": "250m", "memory": "1Gi"},
    "group": "topology.kubernetes.io/zone\u0000app=db,;",
}
NODE = {
    "supersedesKey": "node:m-0001",
    "machineId": "m-0001",
    "clusterId": "prod",
    "state": "MACHINE_STATE_CONFIGURED",
    "nodeName": "ip-10-0-0-1",
    "providerId": "host/m-0001",
    "lastError": "größer als gedacht: 忙",
    "labels": {"a": "1", "node.kubernetes.io/instance-type": "a3-highgpu-8g"},
    "resources": {"resources": {"cpu": "8", "memory": "32Gi"}},
    "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}, {"key": "k2"}],
}
CAPACITY = {
    "supersedesKey": "available:p=0|ipb=0|rpb=0|reqs=|spr=",
    "requirements": [IN],
    "resources": {"resources": {"cpu": "8"}},
    "availableCount": 12,
    "confidence": "CONFIDENCE_HIGH",
    "costPerHour": 0.1,
}
RECLAIM = {"instructionId": "r-1", "nodes": ["m-0001"], "gracePeriodSeconds": "600"}
PULL = {"requestId": "0123456789abcdef", "requirements": [IN], "clusterId": "prod"}
ACK = {"echo": "rollup", "coordinatorTerm": "3", "shardEpoch": str(INT64_MAX)}
HELLO = {"clusterId": "prod", "protocolVersion": "v1alpha1"}
NEEDS = {"clusterId": "prod", "timestampUnixNanos": "1767225600000000001", "needs": [NEED, {}]}
BLOB = {"requestId": "0123456789abcdef", "userData": "AAH/I2Nsb3Vk", "ttlSeconds": "600"}
RECLAIM_ACK = {"instructionId": "r-1", "nodesStarted": 1}
HEADER = {"cycle": "7", "computedAtUnixNanos": "1767225600000000000", "totalNeeds": 1}
VIEW = {
    "need": NEED,
    "clusterId": "prod",
    "arrivalUnixNanos": "1767225600000000000",
    "profileFingerprint": "p=0|ipb=0|rpb=0|reqs=|spr=",
    "satisfied": True,
}

CASES = {
    "Resources": [{"resources": {"cpu": "250m", "nvidia.com/gpu": "1"}}, {"resources": {"": ""}}],
    "ClusterCapacityNeeds": [NEEDS, {"timestampUnixNanos": str(INT64_MIN)}],
    "CapacityNeed": [NEED, {"priority": INT32_MIN}, {"interruptionPenaltyBucket": 27}],
    "NodeSelectorRequirement": [IN, SAME, {"values": ["", "x"]}],
    "TopologySpread": [SPREAD, {"maxSkew": INT32_MAX, "whenUnsatisfiable": 2}],
    "OperatorMessage": [
        {"hello": HELLO},
        {"hello": {}},
        {"rollup": NEEDS},
        {"bootstrapResponse": BLOB},
        {"reclaimAck": RECLAIM_ACK},
    ],
    "ShardMessage": [
        {"ack": ACK},
        {"bootstrapRequest": PULL},
        {"reclaimInstruction": RECLAIM},
        {"nodeStateUpdate": NODE},
        {"availableCapacity": CAPACITY},
    ],
    "Hello": [HELLO],
    "Acknowledgement": [ACK, {"echo": "hello", "coordinatorTerm": "-1"}],
    "BootstrapRequest": [PULL],
    "BootstrapBlobResponse": [BLOB, {"requestId": "0", "error": "no template"}],
    "ReclaimInstruction": [RECLAIM, {"preemptorPriority": INT32_MAX}, {"preemptorPriority": -5}],
    "ReclaimAck": [RECLAIM_ACK, {"nodesStarted": -1}],
    "NodeStateUpdate": [NODE, *({"machineId": "m", "state": state} for state in range(1, 9))],
    "Taint": [{"key": "k", "value": "v", "effect": "NoExecute"}],
    "AvailableCapacityUpdate": [CAPACITY, {"availableCount": -1, "costPerHour": -1e300}],
    "InspectNeedsRequest": [{"clusterId": "prod", "limit": 100}],
    "InspectNeedsResponse": [{"header": HEADER}, {"need": VIEW}, {"header": {}}],
    "InspectNeedsHeader": [HEADER],
    "NeedView": [VIEW],
}


def messages(folder):
    """Message classes by name, from code that protoc generates into `folder`."""
    sources = [f"bigfleet/v1alpha1/{name}.proto" for name in FILES]
    code = protoc.main(["protoc", f"-I{ROOT / 'proto'}", f"--python_out={folder}", *sources])
    if code != 0:
        raise SystemExit(code)
    sys.path.insert(0, folder)
    found = {}
    for name in FILES:
        module = importlib.import_module(f"bigfleet.v1alpha1.{name}_pb2")
        for message in module.DESCRIPTOR.message_types_by_name:
            found[message] = getattr(module, message)
    return found


def golden(kind, value):
    """One message as canonical JSON and as bytes in hex."""
    message = json_format.ParseDict(value, kind())
    return {
        "json": json_format.MessageToDict(message),
        "hex": message.SerializeToString(deterministic=True).hex(),
    }


def main():
    with tempfile.TemporaryDirectory() as folder:
        kinds = messages(folder)
        if set(kinds) != set(CASES):
            raise SystemExit(f"Messages and cases differ: {set(kinds) ^ set(CASES)}")
        GOLDEN.mkdir(parents=True, exist_ok=True)
        for name, kind in sorted(kinds.items()):
            content = {
                "message": f"bigfleet.v1alpha1.{name}",
                "cases": [golden(kind, value) for value in [{}, *CASES[name]]],
            }
            text = json.dumps(content, indent=2, ensure_ascii=False, sort_keys=True)
            (GOLDEN / f"{name}.json").write_text(text + "\n", encoding="utf-8")


main()
