// Boundaries as TopoJSON stores positions: whole steps of a lattice, each after the first as the
// difference to the one before it (the TopoJSON specification, "Transforms" and "Arcs"). A position is
// `step * scale + translate`, computed in doubles, which is what topojson-client computes, so
// nothing is rounded, and a tenth of the bytes of the decimals remains. The transform's numbers are
// strings: not every JSON parser reads all 17 digits right.
import { deepStrictEqual } from "node:assert";
import { feature } from "topojson-client";
import { repair } from "./repair.mjs";

/**
 * The features of one object of a topology: `{ id, name, quantizedBoundary, unrepaired }`, the last one only where the
 * boundary had to be repaired.
 */
export function quantizedFeatures(topology, object) {
  const { scale, translate } = topology.transform;
  const transform = { scale: scale.map(String), translate: translate.map(String) };
  const width = Math.round(360 / scale[0]);
  const steps = feature(inSteps(topology), topology.objects[object]).features;
  const decoded = feature(topology, topology.objects[object]).features;
  const quantized = ({ type, coordinates }) => ({ type, transform, coordinates: mapRings(coordinates, toDifferences) });
  return steps.map(({ id, properties: { name }, geometry }, position) => {
    const source = quantized(geometry);
    deepStrictEqual(decode(source), decoded[position].geometry);
    const repaired = repair(geometry.type === "Polygon" ? [geometry.coordinates] : geometry.coordinates, width);
    if (repaired === undefined) return { id, name, quantizedBoundary: source };
    const [first, ...others] = repaired;
    const drawn =
      others.length === 0
        ? { type: "Polygon", coordinates: first }
        : { type: "MultiPolygon", coordinates: repaired };
    return { id, name, quantizedBoundary: quantized(drawn), unrepaired: source };
  });
}

/** The GeoJSON geometry of a quantized boundary. */
export function decode({ type, transform, coordinates }) {
  const [scaleX, scaleY] = transform.scale.map(Number);
  const [translateX, translateY] = transform.translate.map(Number);
  const decodeRing = (ring) => {
    let x = 0;
    let y = 0;
    return ring.map(([dx, dy]) => {
      x += dx;
      y += dy;
      return [x * scaleX + translateX, y * scaleY + translateY];
    });
  };
  return { type, coordinates: mapRings(coordinates, decodeRing) };
}

/** The same topology with absolute steps in its arcs, which topojson-client then only stitches. */
function inSteps(topology) {
  const arcs = topology.arcs.map((arc) => {
    let x = 0;
    let y = 0;
    return arc.map(([dx, dy]) => [(x += dx), (y += dy)]);
  });
  return { ...topology, transform: undefined, arcs };
}

function toDifferences(ring) {
  let x = 0;
  let y = 0;
  return ring.map(([toX, toY]) => {
    const difference = [toX - x, toY - y];
    x = toX;
    y = toY;
    return difference;
  });
}

function mapRings(coordinates, map) {
  const isRing = typeof coordinates[0][0] === "number";
  return isRing ? map(coordinates) : coordinates.map((inner) => mapRings(inner, map));
}
