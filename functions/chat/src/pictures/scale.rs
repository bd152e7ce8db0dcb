//! Reading an uploaded file as a picture, and scaling it. Only pixels survive: metadata, such as the place where a
//! photograph was taken, is dropped.

use std::io::Cursor;

use bytes::Bytes;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, ImageResult, Limits};

/// The most pixels of a side of a file.
const MAX_SIDE: u32 = 16_384;

/// The most pixels of a file. A decoded one needs up to 8 bytes for each.
const MAX_PIXELS: u64 = 40_000_000;

/// The most bytes that a decoder may allocate.
const MAX_ALLOCATION: u64 = 512 * 1024 * 1024;

const JPEG_QUALITY: u8 = 85;

/// A picture of one size, encoded.
#[derive(Debug)]
pub struct Scaled {
    pub body: Bytes,
    pub content_type: &'static str,
}

/// Scales a file so that its longest side has at most these pixels. The error says why the file is refused.
pub fn scale(file: &[u8], sides: [u32; 2]) -> Result<[Scaled; 2], String> {
    let picture = decode(file)?;
    let [small, large] = sides.map(|side| encode(&fit(&picture, side)));
    let fault = |error| format!("The file cannot be scaled: {error}.");
    Ok([small.map_err(fault)?, large.map_err(fault)?])
}

/// Decodes a file. Its dimensions are checked by its header, before any pixel is decoded.
fn decode(file: &[u8]) -> Result<DynamicImage, String> {
    let mut reader = ImageReader::new(Cursor::new(file));
    let kind = image::guess_format(file).ok();
    let Some(kind) = kind.filter(|kind| matches!(kind, ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::WebP))
    else {
        return Err("The file is not a PNG, JPEG or WebP file.".to_owned());
    };
    reader.set_format(kind);
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_ALLOCATION);
    reader.limits(limits);
    let damaged = |error| format!("The file cannot be decoded: {error}.");
    let mut decoder = reader.into_decoder().map_err(damaged)?;
    let (width, height) = decoder.dimensions();
    if width > MAX_SIDE || height > MAX_SIDE || u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(format!(
            "The picture has {width} × {height} pixels. At most {MAX_SIDE} are allowed on a side and {MAX_PIXELS} in all."
        ));
    }
    // A camera stores how it was held in the metadata. Without it the picture itself must be turned.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut picture = DynamicImage::from_decoder(decoder).map_err(damaged)?;
    picture.apply_orientation(orientation);
    Ok(picture)
}

/// Scales a picture down. A picture that is small enough stays as it is.
fn fit(picture: &DynamicImage, side: u32) -> DynamicImage {
    if picture.width().max(picture.height()) <= side {
        return picture.clone();
    }
    picture.resize(side, side, FilterType::CatmullRom)
}

/// Encodes a picture as JPEG, or as PNG if parts of it are transparent.
fn encode(picture: &DynamicImage) -> ImageResult<Scaled> {
    let mut body = Vec::new();
    let pixels = picture.to_rgba8();
    let is_opaque = pixels.pixels().all(|pixel| {
        let [.., alpha] = pixel.0;
        alpha == u8::MAX
    });
    if is_opaque {
        JpegEncoder::new_with_quality(&mut body, JPEG_QUALITY).encode_image(&picture.to_rgb8())?;
        return Ok(Scaled { body: body.into(), content_type: "image/jpeg" });
    }
    DynamicImage::ImageRgba8(pixels).write_to(&mut Cursor::new(&mut body), ImageFormat::Png)?;
    Ok(Scaled { body: body.into(), content_type: "image/png" })
}

#[cfg(test)]
mod tests {
    use image::{Rgba, RgbaImage};

    use super::*;

    fn png(width: u32, height: u32, pixel: [u8; 4]) -> Vec<u8> {
        let mut file = Vec::new();
        let picture = DynamicImage::ImageRgba8(RgbaImage::from_pixel(width, height, Rgba(pixel)));
        picture.write_to(&mut Cursor::new(&mut file), ImageFormat::Png).unwrap();
        file
    }

    fn dimensions(scaled: &Scaled) -> (u32, u32) {
        let picture = image::load_from_memory(&scaled.body).unwrap();
        (picture.width(), picture.height())
    }

    #[test]
    fn longest_side_is_scaled_down_and_never_up() {
        let [small, large] = scale(&png(400, 200, [10, 20, 30, 255]), [96, 512]).unwrap();
        assert_eq!((dimensions(&small), dimensions(&large)), ((96, 48), (400, 200)));
    }

    #[test]
    fn transparent_picture_stays_transparent_and_opaque_one_becomes_jpeg() {
        let [opaque, _] = scale(&png(2, 2, [1, 2, 3, 255]), [96, 512]).unwrap();
        let [clear, _] = scale(&png(2, 2, [1, 2, 3, 0]), [96, 512]).unwrap();
        assert_eq!((opaque.content_type, clear.content_type), ("image/jpeg", "image/png"));
        assert_eq!(image::load_from_memory(&clear.body).unwrap().to_rgba8().get_pixel(0, 0).0[3], 0);
    }

    #[test]
    fn file_that_is_no_picture_or_is_cut_short_is_refused() {
        let whole = png(200, 200, [1, 2, 3, 255]);
        let files: [&[u8]; 5] = [b"", b"just text", b"GIF89a\x01\x00\x01\x00", &whole[..30], &whole[..whole.len() / 2]];
        for file in files {
            assert!(scale(file, [96, 512]).is_err(), "{file:?}");
        }
    }

    #[test]
    fn photograph_is_turned_as_its_metadata_says() {
        // Exif with the orientation 6: turn by 90 degrees.
        const EXIF: &[u8] = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
        let mut plain = Vec::new();
        let picture = DynamicImage::ImageRgba8(RgbaImage::from_pixel(40, 20, Rgba([1, 2, 3, 255])));
        picture.to_rgb8().write_to(&mut Cursor::new(&mut plain), ImageFormat::Jpeg).unwrap();
        let length = u16::try_from(EXIF.len() + 2).unwrap().to_be_bytes();
        let file = [&plain[..2], &[0xff, 0xe1], &length, EXIF, &plain[2..]].concat();
        let [_, large] = scale(&file, [96, 512]).unwrap();
        assert_eq!(dimensions(&large), (20, 40));
        assert!(!large.body.windows(4).any(|bytes| bytes == b"Exif"));
    }

    proptest::proptest! {
        #[test]
        fn damaged_file_never_panics(position in 0usize..400, byte in 0u8..=255) {
            let mut file = png(20, 20, [9, 8, 7, 128]);
            let position = position % file.len();
            file[position] = byte;
            let _ = scale(&file, [8, 16]);
        }
    }
}
