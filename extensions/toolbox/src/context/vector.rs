//! Vectors in their stored form, and the similarity of two vectors. Pure.

use super::embedder::EmbedderError;

/// A vector of length 1, so that the product of two is the cosine of their angle.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct UnitVector(Vec<f32>);

impl UnitVector {
    /// Checks the number of dimensions, and scales the vector to length 1.
    pub(super) fn new(mut numbers: Vec<f32>, dimensions: usize) -> Result<Self, EmbedderError> {
        if numbers.len() != dimensions {
            return Err(EmbedderError::WrongDimensions {
                found: numbers.len(),
                expected: dimensions,
            });
        }
        let length = numbers.iter().map(|it| f64::from(*it).powi(2)).sum::<f64>().sqrt();
        if !length.is_finite() || length == 0.0 {
            return Err(EmbedderError::NoDirection);
        }
        for number in &mut numbers {
            *number = (f64::from(*number) / length) as f32;
        }
        Ok(Self(numbers))
    }

    /// Checks an answer of an embedder, which must have one vector for each text. A vector without a direction becomes
    /// `None`.
    pub(super) fn of_answer(
        vectors: Vec<Vec<f32>>,
        texts: usize,
        dimensions: usize,
    ) -> Result<Vec<Option<Self>>, EmbedderError> {
        if vectors.len() != texts {
            return Err(EmbedderError::WrongCount { found: vectors.len(), expected: texts });
        }
        let checked = vectors.into_iter().map(|vector| match Self::new(vector, dimensions) {
            Ok(vector) => Ok(Some(vector)),
            Err(EmbedderError::NoDirection) => Ok(None),
            Err(error) => Err(error),
        });
        checked.collect()
    }

    /// Returns the numbers as 32-bit floats, little endian.
    pub(super) fn to_blob(&self) -> Vec<u8> {
        self.0.iter().flat_map(|it| it.to_le_bytes()).collect()
    }

    /// Returns the cosine of the angle between this vector and a stored vector with as many dimensions.
    pub(super) fn cosine(&self, blob: &[u8]) -> f32 {
        // Eight separate sums let the compiler add several numbers at the same time.
        let mut sums = [0.0_f32; 8];
        let (wide, rest) = self.0.as_chunks::<8>();
        let (wide_blob, rest_blob) = blob.as_chunks::<32>();
        for (numbers, bytes) in wide.iter().zip(wide_blob) {
            let (others, _) = bytes.as_chunks::<4>();
            for ((sum, number), other) in sums.iter_mut().zip(numbers).zip(others) {
                *sum += number * f32::from_le_bytes(*other);
            }
        }
        let (others, _) = rest_blob.as_chunks::<4>();
        let end = rest.iter().zip(others).map(|(it, other)| it * f32::from_le_bytes(*other));
        sums.iter().sum::<f32>() + end.sum::<f32>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_cosine_of_stored_vectors_is_that_of_their_numbers(
            pairs in prop::collection::vec((-100.0_f32..100.0, -100.0_f32..100.0), 1..70),
            scale in 0.01_f32..100.0,
        ) {
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
            prop_assume!(dot(&a, &a) > 1e-3 && dot(&b, &b) > 1e-3);
            let expected = dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt();
            let scaled: Vec<f32> = b.iter().map(|it| it * scale).collect();
            let count = a.len();
            let (a, b) = (UnitVector::new(a, count).unwrap(), UnitVector::new(scaled, count).unwrap());
            prop_assert_eq!(b.to_blob().len(), 4 * count);
            prop_assert!((f64::from(a.cosine(&b.to_blob())) - expected).abs() < 1e-4);
        }
    }

    #[test]
    fn a_vector_without_a_direction_is_refused() {
        for numbers in [vec![0.0, 0.0], vec![f32::NAN, 1.0], vec![1.0, f32::INFINITY]] {
            assert!(matches!(UnitVector::new(numbers, 2), Err(EmbedderError::NoDirection)));
        }
    }
}
