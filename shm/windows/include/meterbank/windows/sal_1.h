// SPDX-License-Identifier: Apache-2.0
//
// SAL 1: annotations in small letters. All are empty.
//
// The C++ library of this compiler calls parameters and variables `__in`, `__out`, `__bound`,
// `__pre` and `__valid`, so C++ lacks these; Linux's headers have members called `__reserved`, so
// it is in neither language.
#pragma once

#if !defined(__cplusplus)
#define __in
#define __out
#define __bound
#define __pre
#define __valid
#endif

#define __in_opt
#define __in_z
#define __in_z_opt
#define __in_nz
#define __in_nz_opt
#define __out_opt
#define __out_z
#define __out_z_opt
#define __out_nz
#define __out_nz_opt
#define __inout
#define __inout_opt
#define __inout_z
#define __inout_z_opt
#define __inout_nz
#define __inout_nz_opt
#define __deref_in
#define __deref_in_opt
#define __deref_in_z
#define __deref_in_z_opt
#define __deref_in_nz
#define __deref_in_nz_opt
#define __deref_out
#define __deref_out_opt
#define __deref_out_z
#define __deref_out_z_opt
#define __deref_out_nz
#define __deref_out_nz_opt
#define __deref_inout
#define __deref_inout_opt
#define __deref_inout_z
#define __deref_inout_z_opt
#define __deref_inout_nz
#define __deref_inout_nz_opt
#define __deref_opt_in
#define __deref_opt_in_opt
#define __deref_opt_in_z
#define __deref_opt_in_z_opt
#define __deref_opt_in_nz
#define __deref_opt_in_nz_opt
#define __deref_opt_out
#define __deref_opt_out_opt
#define __deref_opt_out_z
#define __deref_opt_out_z_opt
#define __deref_opt_out_nz
#define __deref_opt_out_nz_opt
#define __deref_opt_inout
#define __deref_opt_inout_opt
#define __deref_opt_inout_z
#define __deref_opt_inout_z_opt
#define __deref_opt_inout_nz
#define __deref_opt_inout_nz_opt
#define __deref_in_opt_out
#define __nullterminated
#define __nullnullterminated
#define __possibly_notnullterminated
#define __checkReturn
#define __override
#define __callback
#define __format_string
#define __fallthrough
#define __in_bound
#define __out_bound
#define __deref_out_bound
#define __allocator
#define __post_invalid
#define __post_nullnullterminated
#define __notnull
#define __maybenull
#define __exceptthat
#define __field_nullterminated
#define __rpc_entry
#define __kernel_entry
#define __gdi_entry
#define __encoded_pointer
#define __encoded_array
#define __field_encoded_pointer
#define __field_encoded_array
#define __nonvolatile
#define __deref_volatile
#define __deref_nonvolatile
#define __deref
#define __post
#define __maybevalid
#define __readonly
#define __notvalid
#define __refparam
#define __inner_exceptthat
#define __inner_callback
#define __analysis_noreturn
#define __ecount(size)
#define __ecount_opt(size)
#define __bcount(size)
#define __bcount_opt(size)
#define __xcount(size)
#define __xcount_opt(size)
#define __in_ecount(size)
#define __in_ecount_opt(size)
#define __in_bcount(size)
#define __in_bcount_opt(size)
#define __in_xcount(size)
#define __in_xcount_opt(size)
#define __out_ecount(size)
#define __out_ecount_opt(size)
#define __out_ecount_full(size)
#define __out_ecount_full_opt(size)
#define __out_bcount(size)
#define __out_bcount_opt(size)
#define __out_bcount_full(size)
#define __out_bcount_full_opt(size)
#define __out_xcount(size)
#define __out_xcount_opt(size)
#define __out_xcount_full(size)
#define __out_xcount_full_opt(size)
#define __inout_ecount(size)
#define __inout_ecount_opt(size)
#define __inout_ecount_full(size)
#define __inout_ecount_full_opt(size)
#define __inout_bcount(size)
#define __inout_bcount_opt(size)
#define __inout_bcount_full(size)
#define __inout_bcount_full_opt(size)
#define __inout_xcount(size)
#define __inout_xcount_opt(size)
#define __inout_xcount_full(size)
#define __inout_xcount_full_opt(size)
#define __in_ecount_z(size)
#define __in_ecount_z_opt(size)
#define __in_ecount_nz(size)
#define __in_ecount_nz_opt(size)
#define __in_bcount_z(size)
#define __in_bcount_z_opt(size)
#define __in_bcount_nz(size)
#define __in_bcount_nz_opt(size)
#define __out_ecount_z(size)
#define __out_ecount_z_opt(size)
#define __out_ecount_nz(size)
#define __out_ecount_nz_opt(size)
#define __out_bcount_z(size)
#define __out_bcount_z_opt(size)
#define __out_bcount_nz(size)
#define __out_bcount_nz_opt(size)
#define __inout_ecount_z(size)
#define __inout_ecount_z_opt(size)
#define __inout_ecount_nz(size)
#define __inout_ecount_nz_opt(size)
#define __inout_bcount_z(size)
#define __inout_bcount_z_opt(size)
#define __inout_bcount_nz(size)
#define __inout_bcount_nz_opt(size)
#define __deref_ecount(size)
#define __deref_ecount_opt(size)
#define __deref_bcount(size)
#define __deref_bcount_opt(size)
#define __deref_xcount(size)
#define __deref_xcount_opt(size)
#define __deref_opt_ecount(size)
#define __deref_opt_ecount_opt(size)
#define __deref_opt_bcount(size)
#define __deref_opt_bcount_opt(size)
#define __deref_opt_xcount(size)
#define __deref_opt_xcount_opt(size)
#define __deref_in_ecount(size)
#define __deref_in_ecount_opt(size)
#define __deref_in_bcount(size)
#define __deref_in_bcount_opt(size)
#define __deref_in_xcount(size)
#define __deref_in_xcount_opt(size)
#define __deref_opt_in_ecount(size)
#define __deref_opt_in_ecount_opt(size)
#define __deref_opt_in_bcount(size)
#define __deref_opt_in_bcount_opt(size)
#define __deref_opt_in_xcount(size)
#define __deref_opt_in_xcount_opt(size)
#define __deref_out_ecount(size)
#define __deref_out_ecount_opt(size)
#define __deref_out_ecount_full(size)
#define __deref_out_ecount_full_opt(size)
#define __deref_out_bcount(size)
#define __deref_out_bcount_opt(size)
#define __deref_out_bcount_full(size)
#define __deref_out_bcount_full_opt(size)
#define __deref_out_xcount(size)
#define __deref_out_xcount_opt(size)
#define __deref_out_xcount_full(size)
#define __deref_out_xcount_full_opt(size)
#define __deref_inout_ecount(size)
#define __deref_inout_ecount_opt(size)
#define __deref_inout_ecount_full(size)
#define __deref_inout_ecount_full_opt(size)
#define __deref_inout_bcount(size)
#define __deref_inout_bcount_opt(size)
#define __deref_inout_bcount_full(size)
#define __deref_inout_bcount_full_opt(size)
#define __deref_inout_xcount(size)
#define __deref_inout_xcount_opt(size)
#define __deref_inout_xcount_full(size)
#define __deref_inout_xcount_full_opt(size)
#define __deref_opt_out_ecount(size)
#define __deref_opt_out_ecount_opt(size)
#define __deref_opt_out_ecount_full(size)
#define __deref_opt_out_ecount_full_opt(size)
#define __deref_opt_out_bcount(size)
#define __deref_opt_out_bcount_opt(size)
#define __deref_opt_out_bcount_full(size)
#define __deref_opt_out_bcount_full_opt(size)
#define __deref_opt_out_xcount(size)
#define __deref_opt_out_xcount_opt(size)
#define __deref_opt_out_xcount_full(size)
#define __deref_opt_out_xcount_full_opt(size)
#define __deref_opt_inout_ecount(size)
#define __deref_opt_inout_ecount_opt(size)
#define __deref_opt_inout_ecount_full(size)
#define __deref_opt_inout_ecount_full_opt(size)
#define __deref_opt_inout_bcount(size)
#define __deref_opt_inout_bcount_opt(size)
#define __deref_opt_inout_bcount_full(size)
#define __deref_opt_inout_bcount_full_opt(size)
#define __deref_opt_inout_xcount(size)
#define __deref_opt_inout_xcount_opt(size)
#define __deref_opt_inout_xcount_full(size)
#define __deref_opt_inout_xcount_full_opt(size)
#define __deref_out_ecount_z(size)
#define __deref_out_ecount_z_opt(size)
#define __deref_out_ecount_nz(size)
#define __deref_out_ecount_nz_opt(size)
#define __deref_out_bcount_z(size)
#define __deref_out_bcount_z_opt(size)
#define __deref_out_bcount_nz(size)
#define __deref_out_bcount_nz_opt(size)
#define __deref_inout_ecount_z(size)
#define __deref_inout_ecount_z_opt(size)
#define __deref_inout_ecount_nz(size)
#define __deref_inout_ecount_nz_opt(size)
#define __deref_inout_bcount_z(size)
#define __deref_inout_bcount_z_opt(size)
#define __deref_inout_bcount_nz(size)
#define __deref_inout_bcount_nz_opt(size)
#define __deref_opt_out_ecount_z(size)
#define __deref_opt_out_ecount_z_opt(size)
#define __deref_opt_out_ecount_nz(size)
#define __deref_opt_out_ecount_nz_opt(size)
#define __deref_opt_out_bcount_z(size)
#define __deref_opt_out_bcount_z_opt(size)
#define __deref_opt_out_bcount_nz(size)
#define __deref_opt_out_bcount_nz_opt(size)
#define __deref_opt_inout_ecount_z(size)
#define __deref_opt_inout_ecount_z_opt(size)
#define __deref_opt_inout_ecount_nz(size)
#define __deref_opt_inout_ecount_nz_opt(size)
#define __deref_opt_inout_bcount_z(size)
#define __deref_opt_inout_bcount_z_opt(size)
#define __deref_opt_inout_bcount_nz(size)
#define __deref_opt_inout_bcount_nz_opt(size)
#define __field_ecount(size)
#define __field_ecount_opt(size)
#define __field_ecount_full(size)
#define __field_ecount_full_opt(size)
#define __field_bcount(size)
#define __field_bcount_opt(size)
#define __field_bcount_full(size)
#define __field_bcount_full_opt(size)
#define __field_xcount(size)
#define __field_xcount_opt(size)
#define __field_xcount_full(size)
#define __field_xcount_full_opt(size)
#define __struct_bcount(size)
#define __struct_xcount(size)
#define __success(condition)
#define __typefix(value)
#define __inner_typefix(value)
#define __blocksOn(lock)
#define __assume_bound(condition)
#define __deallocate(value)
#define __deallocate_opt(value)
#define __control_entrypoint(name)
#define __data_entrypoint(name)
#define __in_data_source(name)
#define __out_data_source(name)
#define __field_data_source(name)
#define __this_out_data_source(name)
#define __out_validated(name)
#define __this_out_validated(name)
#define __file_parser(name)
#define __file_parser_class(name)
#define __file_parser_library(name)
#define __source_code_content(name)
#define __class_code_content(name)
#define __transfer(value)
#define __out_transfer_adt_prop(value)
#define __out_has_type_adt_props(value)
#define __readableTo(size)
#define __writableTo(size)
#define __byte_readableTo(size)
#define __byte_writableTo(size)
#define __elem_readableTo(size)
#define __elem_writableTo(size)
#define __inexpressible_readableTo(size)
#define __precond(condition)
#define __allowed(value)
#define __out_ecount_part(size, used)
#define __out_ecount_part_opt(size, used)
#define __out_bcount_part(size, used)
#define __out_bcount_part_opt(size, used)
#define __out_xcount_part(size, used)
#define __out_xcount_part_opt(size, used)
#define __inout_ecount_part(size, used)
#define __inout_ecount_part_opt(size, used)
#define __inout_bcount_part(size, used)
#define __inout_bcount_part_opt(size, used)
#define __inout_xcount_part(size, used)
#define __inout_xcount_part_opt(size, used)
#define __deref_out_ecount_part(size, used)
#define __deref_out_ecount_part_opt(size, used)
#define __deref_out_bcount_part(size, used)
#define __deref_out_bcount_part_opt(size, used)
#define __deref_out_xcount_part(size, used)
#define __deref_out_xcount_part_opt(size, used)
#define __deref_inout_ecount_part(size, used)
#define __deref_inout_ecount_part_opt(size, used)
#define __deref_inout_bcount_part(size, used)
#define __deref_inout_bcount_part_opt(size, used)
#define __deref_inout_xcount_part(size, used)
#define __deref_inout_xcount_part_opt(size, used)
#define __deref_opt_out_ecount_part(size, used)
#define __deref_opt_out_ecount_part_opt(size, used)
#define __deref_opt_out_bcount_part(size, used)
#define __deref_opt_out_bcount_part_opt(size, used)
#define __deref_opt_out_xcount_part(size, used)
#define __deref_opt_out_xcount_part_opt(size, used)
#define __deref_opt_inout_ecount_part(size, used)
#define __deref_opt_inout_ecount_part_opt(size, used)
#define __deref_opt_inout_bcount_part(size, used)
#define __deref_opt_inout_bcount_part_opt(size, used)
#define __deref_opt_inout_xcount_part(size, used)
#define __deref_opt_inout_xcount_part_opt(size, used)
#define __field_ecount_part(size, used)
#define __field_ecount_part_opt(size, used)
#define __field_bcount_part(size, used)
#define __field_bcount_part_opt(size, used)
#define __field_xcount_part(size, used)
#define __field_xcount_part_opt(size, used)
#define __in_awcount(first, second)
#define __out_awcount(first, second)
#define __range(low, high)
#define __in_range(low, high)
#define __out_range(low, high)
#define __field_range(low, high)
#define __deref_in_range(low, high)
#define __deref_out_range(low, high)
#define __deref_inout_range(low, high)
#define __range_max(low, high)
#define __range_min(low, high)
#define __type_has_adt_prop(first, second)
#define __out_has_adt_prop(first, second)
#define __out_not_has_adt_prop(first, second)
#define __deref_in_ecount_iterator(first, second)
#define __deref_out_ecount_iterator(first, second)
#define __deref_inout_ecount_iterator(first, second)
#define __deref_realloc_bcount(first, second)
