# One compiler, one linker, one set of warnings for every target.
find_package(Boost 1.81 REQUIRED COMPONENTS json)
find_package(OpenSSL REQUIRED)
find_package(Threads REQUIRED)
find_package(GTest REQUIRED)

add_compile_options(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wold-style-cast -Werror -Wno-missing-designated-field-initializers)
add_link_options(-fuse-ld=lld-19)
add_compile_definitions(BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_HAS_CO_AWAIT BOOST_ASIO_HAS_STD_COROUTINE)

option(BERTH_SANITIZE "build with AddressSanitizer and UBSan" OFF)
if(BERTH_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

# Boost.JSON is the one document model: every layer sees it.
link_libraries(Boost::json)
