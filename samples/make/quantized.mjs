// Boundaries as TopoJSON stores positions: whole steps of a lattice, each after the first as the
// difference to the one before it (the TopoJSON specification, "Transforms" and "Arcs"). A position is
// `step * scale + translate`, computed in doubles, which is what topojson-client computes, so
// nothing is rounded, and a tenth of the bytes of the decimals remains. The transform's numbers are
// strings: not every JSON parser reads all 17 digits right.
import { deepStrictEqual } from "node:assert";
import { feature } from "topojson-client";

/** The features of one object of a topology: `{ id, name, quantizedBoundary }`. */
export function quantizedFeatures(topology, object) {
  const transform = {
    scale: topology.transform.scale.map(String),
    translate: topology.transform.translate.map(String),
  };
  const steps = feature(inSteps(topology), topology.objects[object]).features;
  const decoded = feature(topology, topology.objects[object]).features;
  return steps.map((found, position) => {
    const quantizedBoundary = {
      type: found.geometry.type,
      transform,
      coordinates: mapRings(found.geometry.coordinates, toDifferences),
    };
    deepStrictEqual(decode(quantizedBoundary), decoded[position].geometry);
    return { id: found.id, name: found.properties.name, quantizedBoundary };
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
